import { describe, expect, it } from 'vitest'
import { announcements } from './announcement.ts'
import { families as parseFamilies } from './envelope/registry.ts'
import { parseToolCalls } from './parse-tool-calls.ts'
import { parseWith } from './parse-with.ts'
import type { Effect } from './repair.ts'

const { announcementIn } = announcements

const ANNOUNCED = [
  'I will now search for the weather in Berlin.',
  'Let me check the file.',
  "I'll read the README first.",
  'Great question! Let me look that up for you.',
  "I'm going to use get_weather to find out.",
  'Searching for flights now...',
  'Ich werde jetzt nach dem Wetter in Berlin suchen.',
  'Ich schaue kurz in die Datei.',
  'Lass mich das eben nachschlagen.',
  'Ich prüfe das jetzt.',
  'Zuerst lese ich die Datei.',
  'Je vais chercher la météo à Paris.',
  'Laissez-moi vérifier cela.',
  'Je consulte le fichier maintenant.',
  'Voy a buscar el tiempo en Madrid.',
  'Déjame revisar el archivo.',
  'Ahora consulto la base de datos.',
  'Vou pesquisar o tempo em Lisboa.',
  'Deixe-me verificar isso.',
  'Agora verifico o arquivo.',
  'Vado a cercare il meteo di Roma.',
  'Fammi controllare il file.',
  'Ora cerco le informazioni.',
  'Ik ga nu het weer in Utrecht opzoeken.',
  'Laat me het bestand even bekijken.',
  'Ik zoek dat meteen op.',
  'Sprawdzę teraz pogodę w Krakowie.',
  'Zaraz przeczytam ten plik.',
  'Teraz wyszukuję informacje.',
  'Сейчас я поищу погоду в Москве.',
  'Давайте посмотрим файл.',
  'Я проверю это.',
  'Зараз перевірю погоду в Києві.',
  'Дозвольте мені переглянути файл: відкрию його.',
  'Спочатку прочитаю файл.',
  '我来查一下北京的天气。',
  '让我先读取这个文件。',
  '好的，我现在搜索相关信息。',
  '接下来我将调用 get_weather 工具。',
  '東京の天気を調べてみます。',
  'まずファイルを確認します。',
  '検索いたします。',
  '天気を検索しますね。',
  '서울 날씨를 검색해 보겠습니다.',
  '먼저 파일을 확인하겠습니다.',
  '지금 조회할게요.',
  'سأبحث الآن عن الطقس في القاهرة.',
  'دعني أتحقق من الملف.',
  'سأقوم بقراءة الملف.',
  'मैं अभी मौसम खोजता हूँ।',
  'मैं फ़ाइल की जाँच करूँगा।',
  'मुझे फ़ाइल देखने दें।',
  'Şimdi hava durumunu kontrol edeceğim.',
  'Dosyaya bakayım.',
  'Hemen arıyorum.',
  'Tôi sẽ tìm kiếm thời tiết ở Hà Nội.',
  'Để tôi kiểm tra tệp này.',
  'Bây giờ tôi tra cứu thông tin.',
  'Saya akan mencari cuaca di Jakarta.',
  'Mari kita periksa berkasnya.',
  'Biarkan saya membaca file itu.',
  'Here is what I will do next:',
  'Voici le résultat de la recherche :',
  '正在搜索……',
  '以下是查询结果：',
]

/** Answers, offers, refusals, questions, conditions and reports of completed actions. */
const ORDINARY = [
  'The weather in Berlin is 12 degrees.',
  "I'll be brief: the file is used by three modules.",
  'Now I updated the file and all tests pass.',
  'I need to know which file you mean to delete.',
  'I will always use tabs here.',
  'I should add that this is an estimate.',
  'Debo añadir que es una estimación.',
  "Je dois ajouter que ce n'est qu'une estimation.",
  'Ich möchte hinzufügen, dass das eine Schätzung ist.',
  'Ich habe jetzt alle Dateien geprüft.',
  '首先打开设置，然后选择网络。',
  '现在系统使用新的配置。',
  'この例では関数を使用します。',
  '次の手順で確認できます。',
  '먼저 설정을 열어 주세요.',
  'Teraz wszystkie testy przechodzą.',
  'Сейчас в Москве плюс двенадцать.',
  'Şimdi bütün testler geçiyor.',
  'Sekarang semua tes lulus.',
  'Maintenant, tous les tests passent.',
  'Ahora todos los tests pasan.',
  'Agora todos os testes passam.',
  'Ora tutti i test passano.',
  'Nu slagen alle tests.',
  'I searched the files and found three matches.',
  'Let me know if you need anything else.',
  'I will let you know when it is done.',
  "I'll be happy to search again if you want.",
  'Would you like me to search for more?',
  'I will not delete the file.',
  'If you want, I will search again.',
  'You can now run the tests.',
  'I can search for more.',
  "I'll keep that in mind.",
  'Feel free to ask me to search again.',
  'It will use the cache.',
  'Please tell me which file:',
  'Ich habe die Datei gelesen und drei Fehler gefunden.',
  'Ich werde die Datei nicht löschen.',
  'Wenn Sie möchten, suche ich jetzt weiter.',
  'Soll ich jetzt nach dem Wetter suchen?',
  'Sie können die Tests jetzt ausführen.',
  'Ich finde das gut.',
  'Melden Sie sich, wenn Sie noch etwas brauchen.',
  'Ich will Sie nicht länger aufhalten.',
  "J'ai cherché dans les fichiers et trouvé trois résultats.",
  'Je ne vais pas supprimer le fichier.',
  'Si vous voulez, je vais chercher plus loin.',
  'Voulez-vous que je cherche maintenant ?',
  'Je vais bien, merci.',
  "N'hésitez pas à me demander autre chose.",
  'He buscado en los archivos y hay tres resultados.',
  'No voy a borrar el archivo.',
  'Si quieres, voy a buscar más.',
  '¿Quieres que busque ahora?',
  'Avísame si necesitas algo más.',
  'Pesquisei os arquivos e encontrei três resultados.',
  'Não vou apagar o arquivo.',
  'Se quiser, vou pesquisar mais.',
  'Quer que eu pesquise agora?',
  'Avise-me se precisar de mais alguma coisa.',
  'Ho cercato nei file e ho trovato tre risultati.',
  'Non vado a cancellare il file.',
  'Se vuoi, cerco ancora adesso.',
  'Vuoi che cerchi ora?',
  'Fammi sapere se ti serve altro.',
  'Ik heb de bestanden doorzocht en drie resultaten gevonden.',
  'Ik ga het bestand niet verwijderen.',
  'Als je wilt, zoek ik verder.',
  'Zal ik nu zoeken?',
  'Laat het me weten als je nog iets nodig hebt.',
  'Sprawdziłem pliki i znalazłem trzy wyniki.',
  'Nie usunę tego pliku.',
  'Jeśli chcesz, poszukam dalej.',
  'Czy mam teraz poszukać?',
  'Daj znać, jeśli potrzebujesz czegoś więcej.',
  'Я проверил файлы и нашёл три результата.',
  'Я не удалю файл.',
  'Если хотите, я поищу ещё.',
  'Мне поискать сейчас?',
  'Дайте знать, если нужно что-то ещё.',
  'Я перевірив файли і знайшов три результати.',
  'Я не видалю файл.',
  'Якщо хочете, я пошукаю ще.',
  'Пошукати зараз?',
  '我已经查询了天气，今天晴。',
  '我不会删除这个文件。',
  '如果需要，我会继续搜索。',
  '需要我现在搜索吗？',
  '您现在可以运行测试了。',
  '我查看了文件，没有发现问题。',
  'ファイルを確認しました。三件見つかりました。',
  'ファイルは削除しません。',
  '必要であれば検索します。',
  '今すぐ検索しますか？',
  'この関数はデータベースを使用します。',
  '파일을 확인했습니다. 세 건을 찾았습니다.',
  '파일을 삭제하지 않겠습니다.',
  '원하시면 더 검색해 보겠습니다.',
  '지금 검색할까요?',
  '더 필요하시면 알려주세요.',
  'بحثت في الملفات ووجدت ثلاث نتائج.',
  'لن أحذف الملف.',
  'إذا أردت، سأبحث أكثر.',
  'هل أبحث الآن؟',
  'मैंने फ़ाइल की जाँच की और तीन परिणाम मिले।',
  'मैं फ़ाइल नहीं हटाऊँगा।',
  'अगर आप चाहें तो मैं और खोजूँगा।',
  'क्या मैं अभी खोजूँ?',
  'Dosyaları kontrol ettim ve üç sonuç buldum.',
  'Dosyayı silmeyeceğim.',
  'İsterseniz aramaya devam edeceğim.',
  'Şimdi arayayım mı?',
  'Tôi đã tìm trong các tệp và có ba kết quả.',
  'Tôi sẽ không xóa tệp.',
  'Nếu bạn muốn, tôi sẽ tìm thêm.',
  'Bạn có muốn tôi tìm bây giờ không?',
  'Saya sudah mencari di berkas dan menemukan tiga hasil.',
  'Saya tidak akan menghapus berkas itu.',
  'Jika Anda mau, saya akan mencari lagi.',
  'Apakah saya perlu mencari sekarang?',
]

describe('a reply that ends with it announces a call', () => {
  it.each(ANNOUNCED)('%s', (text) => {
    expect(announcementIn(text)).toBeDefined()
    expect(announcementIn(`One file was found. It is short.\n\n${text}\n`)).toBeDefined()
  })
})

describe('a reply that ends with it is an answer', () => {
  it.each(ORDINARY)('%s', (text) => expect(announcementIn(text)).toBeUndefined())

  it('whatever was announced before', () => {
    for (const text of ANNOUNCED) expect(announcementIn(`${text}\n\nThe answer is 4.`)).toBeUndefined()
  })

  it('where code or a quotation ends it', () => {
    expect(announcementIn("I'll show it:\n```\nx = 1\n```")).toBeUndefined()
    expect(announcementIn('He wrote:\n> I will search now.')).toBeUndefined()
  })
})

const toolsOf = (effect: Effect) => [
  { name: 'drop_table', effect, parameters: { type: 'object', properties: { table: { type: 'string' } }, required: ['table'] } },
]
const CALL = '<tool_call>{"name": "drop_table", "arguments": {"table": "users"}}</tool_call>'
const run = (text: string): number => parseToolCalls(text, toolsOf('external'), { announcements }).calls.length

describe('an effect that is announced in any language is meant', () => {
  it.each([
    'Ich lösche die Tabelle jetzt:',
    'Je vais supprimer la table.',
    'Voy a eliminar la tabla.',
    'Vou apagar a tabela agora.',
    'Ora elimino la tabella:',
    'Ik ga de tabel nu verwijderen.',
    'Usunę teraz tę tabelę.',
    'Сейчас удалю таблицу.',
    'Зараз видалю таблицю.',
    '我现在删除这个表：',
    'テーブルを削除します。',
    '테이블을 삭제하겠습니다.',
    'سأحذف الجدول الآن.',
    'मैं तालिका हटाऊँगा।',
    'Tabloyu şimdi sileceğim.',
    'Tôi sẽ xóa bảng này.',
    'Saya akan menghapus tabel ini.',
  ])('%s', (lead) => {
    expect(run(`${lead}\n${CALL}`)).toBe(1)
    // Control: without the announcement, the model is asked.
    expect(parseToolCalls(`${lead}\n${CALL}`, toolsOf('external')).quoted).toMatchObject([{ why: 'not announced', open: true }])
  })

  it.each([
    'Ich werde die Tabelle nicht löschen:',
    'Wenn du willst, lösche ich sie jetzt:',
    'Je ne vais pas supprimer la table :',
    'No voy a eliminar la tabla:',
    'Não vou apagar a tabela:',
    'Я не буду удалять таблицу:',
    '我不会删除这个表：',
    'テーブルは削除しません。',
    'Soll ich die Tabelle jetzt löschen?',
    'El archivo contiene:',
    '文件内容如下：',
    'Die Tabelle wurde gelöscht:',
  ])('but not: %s', (lead) => expect(run(`${lead}\n${CALL}`)).toBe(0))
})

describe('what was seen and not run is told', () => {
  const tools = [{ ...toolsOf('read')[0], name: 'search', parameters: { type: 'object' } }]
  const told = (text: string) => parseToolCalls(text, tools as never, { announcements }).quoted.map(({ why, open }) => [why, open])

  it.each<readonly [string, string, boolean]>([
    ['<search query="x"/>', 'in no form that is read as a call', true],
    ['{"name": "seearch", "arguments": {"query": "x"}}', 'there is no tool named "seearch"', true],
    ['Search for x:\n```\nsearch(query="x")\n```', 'in a code fence', true],
    [
      'Call `search(query="x")` whenever you like to have something found in one of the many files of this folder.',
      'in inline code',
      false,
    ],
    ['Ich werde jetzt suchen.', 'announced, and no call was made', true],
    ['<think>Perhaps <tool_call>{"name": "search"}</tool_call>?</think>No need.', 'in the thinking', false],
  ])('%s', (text, why, open) => expect(told(text)).toContainEqual([why, open]))

  it.each([
    'The search found 3 files.',
    'I ran search (twice) and it found nothing.',
    'Use {"name": "x"} as the value.',
    '',
  ])('and nothing where there is nothing: %j', (text) => expect(told(text)).toEqual([]))

  it('also where another call of the reply ran: the model reads it with the result of that one', () => {
    const both = [...toolsOf('external'), { name: 'search', effect: 'read' as const, parameters: { type: 'object' } }]
    const { calls } = parseWith(
      [...parseFamilies],
      `${CALL}\nThe table is gone now.\n<tool_call>{"name": "search", "arguments": {}}</tool_call>`,
      both,
    )
    expect(calls.map(({ name }) => name)).toEqual(['search'])
    expect(calls[0]?.repairs.at(-1)).toMatchObject({ kind: 'dropped', from: CALL, why: expect.stringContaining('was not run') })
  })
})
