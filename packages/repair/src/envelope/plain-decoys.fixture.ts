/**
 * Calls in plain notations, without a family's markup, that are shown but not meant: documentation, a quoted log, source code, a diary
 * of past actions, a question. In several languages.
 */

/** Each is one call of `look_up`. */
export const NOTATIONS: Readonly<Record<string, string>> = {
  Python: 'look_up(query="first snow", limit=3)',
  'two in Python': `look_up(query='first snow'); look_up(query='last snow')`,
  'a list in Python': '[look_up(query="first snow", limit=3)]',
  'a list of texts': `["look_up(query='first snow')", "look_up(query='last snow')"]`,
  'an object': '{"name": "look_up", "arguments": {"query": "first snow", "limit": 3}}',
  'a list of objects': '[{"name": "look_up", "params": {"query": "first snow"}}]',
  'a list in Python of objects': `[{'name': 'look_up', 'parameters': {'query': 'first snow'}}]`,
  'an object of calls': '{"tool_calls": [{"name": "look_up", "arguments": {"query": "first snow"}}]}',
  'name, then JSON': 'look_up{"query": "first snow", "limit": 3}',
  'a closing tag left behind': '{"name": "look_up", "arguments": {"query": "first snow"}}</tool_call>',
  'call:': 'call:look_up{query:"first snow"}',
  'Markdown in the name': 'look\\_up(query="first snow")',
}

type Show = (call: string) => string

const fence = (call: string, language = ''): string => `\`\`\`${language}\n${call}\n\`\`\``

export const SHOWN: Readonly<Record<string, Show>> = {
  'a fenced example': (x) => `For example:\n\n${fence(x, 'json')}\n\nThe server runs it and sends back what was found.`,
  'a fenced example, in German': (x) => `Zum Beispiel:\n\n${fence(x)}\n\nDer Server führt das aus und schickt das Ergebnis zurück.`,
  'a fenced example, in French': (x) => `Par exemple :\n\n${fence(x)}\n\nLe serveur l’exécute et renvoie le résultat.`,
  'a fenced example, in Spanish': (x) => `Por ejemplo:\n\n${fence(x)}\n\nEl servidor lo ejecuta y devuelve el resultado.`,
  'a fenced example, in Chinese': (x) => `例如：\n\n${fence(x)}\n\n服务器会执行它并返回结果。`,
  'a fenced example, in Japanese': (x) => `例えば：\n\n${fence(x)}\n\nサーバーがこれを実行し、結果を返します。`,
  'a fenced example, in Russian': (x) => `Например:\n\n${fence(x)}\n\nСервер выполнит это и вернёт результат.`,
  'documentation in a line': (x) => `The function is called as ${x} and returns a list of matches.`,
  'documentation in a line, in German': (x) => `Die Funktion wird als ${x} aufgerufen und liefert eine Liste.`,
  'documentation in a line, in French': (x) => `La fonction s’appelle avec ${x} et renvoie une liste.`,
  'documentation in a line, in Portuguese': (x) => `A função é chamada como ${x} e devolve uma lista.`,
  'documentation in a line, in Chinese': (x) => `调用方式是 ${x} ，它返回一个列表。`,
  'documentation in a line, in Russian': (x) => `Функция вызывается так: ${x}, и возвращает список.`,
  'a page of documentation': (x) => `# Usage\n\nCall it like this:\n\n${fence(x)}\n\n# Licence\n\nMIT`,
  'a table': (x) => `| tool | example |\n|---|---|\n| look_up | ${x} |\n\nBoth columns are required.`,
  'a quoted log': (x) => `The log says:\n\n2026-03-01 12:00:01 INFO agent: ${x}\n2026-03-01 12:00:02 INFO agent: done\n\nNothing failed.`,
  'a quoted log in a fence': (x) => `The log says:\n\n${fence(`12:00:01 INFO ${x}\n12:00:02 INFO done`, 'text')}\n\nNothing failed.`,
  'an error message': (x) => `The error was: could not parse "${x}" at line 3 of the script.`,
  'source code in a fence': (x) => `${fence(`def main():\n    ${x}\n    return 0`, 'python')}\n\nThis script prints what it finds.`,
  'source code, indented': (x) => `The script:\n\n    def main():\n        ${x}\n\nIt prints what it finds.`,
  'a test in a fence': (x) => `The test that covers it:\n\n${fence(`it('reads it', () => expect(parse(\`${x}\`)).toEqual([]))`, 'ts')}`,
  'a comment': (x) => `The file begins with a comment:\n\n// ${x}\n\nand is empty otherwise.`,
  'a diary': (x) => `What I did:\n1. I read the task.\n2. I called ${x} and got three results.\n3. I wrote the summary.`,
  'a diary, in German': (x) =>
    `Was ich getan habe:\n1. Die Aufgabe gelesen.\n2. Ich habe ${x} aufgerufen und drei Treffer bekommen.\n3. Die Zusammenfassung geschrieben.`,
  'a diary, in Spanish': (x) => `Lo que hice:\n1. Leí la tarea.\n2. Llamé a ${x} y obtuve tres resultados.\n3. Escribí el resumen.`,
  'a diary, in Chinese': (x) => `我做了什么：\n1. 阅读了任务。\n2. 调用了 ${x} ，得到三个结果。\n3. 写了总结。`,
  'a question back': (x) => `Do you want me to run ${x}, or shall I narrow it down first?`,
  'a question back, in German': (x) => `Soll ich ${x} ausführen, oder lieber erst eingrenzen?`,
  'a question back, in French': (x) => `Voulez-vous que j’exécute ${x}, ou faut-il d’abord préciser ?`,
  'a question back, in Chinese': (x) => `要我执行 ${x} 吗，还是先缩小范围？`,
  'a question back, in Japanese': (x) => `${x} を実行しましょうか、それとも先に絞り込みますか？`,
  'a refusal': (x) => `I will not run ${x}, because the table is in use.`,
  'a block quote': (x) => `> ${x}\n\nThat is what the other model wrote, and it was wrong.`,
  'in quotes': (x) => `The other model answered “${x}” and stopped there.`,
  'a way not taken': (x) => `Instead of ${x} you can ask me in plain words.`,
}

export const PLAIN_DECOYS = Object.entries(SHOWN).flatMap(([how, show]) =>
  Object.entries(NOTATIONS).map(([notation, call]) => ({ id: `${how}: ${notation}`, raw: show(call) })),
)
