import { describe, expect, it } from 'vitest'
import { place } from '../../../test/cli.fixture.ts'

const search = {
  name: 'search',
  parameters: { type: 'object', properties: { query: { type: 'string' }, limit: { type: 'integer' } }, required: ['query'] },
}
const write = {
  name: 'write',
  effect: 'write',
  parameters: { type: 'object', properties: { path: { type: 'string' }, text: { type: 'string' } }, required: ['path', 'text'] },
}
const GLM =
  '<tool_call>search<arg_key>query</arg_key><arg_value>plans</arg_value><arg_key>limit</arg_key><arg_value>5</arg_value></tool_call>'

const inPlace = (text: string, tools: unknown = [search, write]) => place({ 'said.txt': text, 'tools.json': JSON.stringify(tools) })
async function rows(given: readonly unknown[]) {
  using here = place({ 'rows.jsonl': given.map((row) => (typeof row === 'string' ? row : JSON.stringify(row))).join('\r\n') })
  const { code, stdout } = await here.run(['parse', '--jsonl', 'rows.jsonl'])
  return {
    code,
    rows: stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line)),
  }
}

describe('mulligan parse', () => {
  it('shows the calls, what was repaired, and the text', async () => {
    using here = inPlace(`Let me look. ${GLM}`)
    const { code, stdout } = await here.run(['parse', 'said.txt', '--tools', 'tools.json'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^✓ search \{"query":"plans","limit":5\}\n {4}envelope: .*glm/)
    expect(stdout).toMatch(/\ntext\nLet me look\.\n\nPolicy: tools without an effect count as read: search\./)
  })

  it('reads stdin, and prints JSON', async () => {
    using here = inPlace('')
    const { code, stdout } = await here.run(['parse', '--tools', 'tools.json', '--json'], { stdin: GLM })
    expect([code, JSON.parse(stdout)]).toEqual([
      0,
      {
        calls: [{ name: 'search', arguments: { query: 'plans', limit: 5 } }],
        text: '',
        notes: [expect.objectContaining({ call: 0, kind: 'envelope' })],
        assumed: { effect: 'read', tools: ['search'] },
      },
    ])
  })

  it.each([
    ['OpenAI', [{ type: 'function', function: search }]],
    ['Anthropic', [{ name: search.name, input_schema: search.parameters }]],
    ['MCP', { tools: [{ name: search.name, inputSchema: search.parameters }] }],
  ])('takes tools in the notation of %s', async (_, tools) => {
    using here = inPlace(GLM, tools)
    expect((await here.run(['parse', 'said.txt', '--tools', 'tools.json'])).code).toBe(0)
  })

  it('says why a call is none, and why one is refused', async () => {
    using here = inPlace(`Such as:\n\`\`\`\n${GLM}\n\`\`\`\nis how.`)
    const { code, stdout } = await here.run(['parse', 'said.txt', '--tools', 'tools.json'])
    expect([code, stdout]).toEqual([1, expect.stringMatching(/^– not read, in a code fence: /)])
    here.write('said.txt', `${GLM.slice(0, -40)}`)
    expect((await here.run(['parse', 'said.txt', '--tools', 'tools.json'])).stdout).toMatch(/^✗ search malformed_call: .*cut off/)
  })

  it('looks for the families that are named, and no other', async () => {
    using here = inPlace(GLM)
    const parse = (family: string) => here.run(['parse', 'said.txt', '--tools', 'tools.json', '--family', family])
    expect((await parse('hermes,glm')).code).toBe(0)
    expect((await parse('hermes')).stdout).toMatch(/^– not read, markup of a call that could not be read/)
    expect(await parse('gml')).toMatchObject({ code: 2, stderr: expect.stringContaining('did you mean glm?') })
  })

  it('the thinking is none of the text where the output begins inside it', async () => {
    using here = inPlace(`Hm.${GLM} or not.</think>Done.`)
    const { stdout } = await here.run(['parse', 'said.txt', '--tools', 'tools.json', '--opens-in-reasoning'])
    expect(stdout).toMatch(/^– not read, in the thinking: .*\n\ntext\nDone\.\n\nreasoning\nHm\./)
  })

  it('takes the policy that is named, and says which it took', async () => {
    using here = inPlace(`The page is old.\n${GLM}`)
    const parse = async (...more: string[]) =>
      JSON.parse((await here.run(['parse', 'said.txt', '--tools', 'tools.json', '--json', ...more])).stdout)
    expect(await parse()).toMatchObject({ calls: [{ name: 'search' }], assumed: { effect: 'read', tools: ['search'] } })
    expect(await parse('--effect', 'external')).toMatchObject({
      calls: [],
      quoted: [{ why: 'not announced', open: true }],
      assumed: { effect: 'external', tools: ['search'] },
    })
  })

  it('explains what was seen where, and why it was run or not', async () => {
    using here = inPlace(`Let me look.\n${GLM}\n`)
    const explain = async (...more: string[]) =>
      (await here.run(['parse', 'said.txt', '--tools', 'tools.json', '--explain', ...more])).stdout
    expect(await explain()).toMatch(
      /^mulligan [\d.]+.* · \d+ characters · families: all {2}\ntools: search \(read, assumed\), write \(write\)\n/,
    )
    expect(await explain()).toMatch(
      /\n\| 13 \| 2 \| glm \| `<tool_call>search.*\| run: search \{"query":"plans","limit":5\} \| envelope: .* \|\n/,
    )
    here.write(
      'said.txt',
      `Use it like \`${GLM}\` | or so, with the tags around each value as they stand there.\n\nIch werde jetzt suchen.`,
    )
    const [shown, announced] = (await explain()).split('\n').filter((line) => /^\| \d/.test(line))
    expect(shown).toMatch(/^\| 13 \| 1 \| glm \| .* \| not run \| in inline code \|$/)
    expect(announced).toMatch(
      /^\| \d+ \| 3 \| none \| `Ich werde jetzt suchen\.` \| not run \| announced, and no call was made; the model is asked \|$/,
    )
    expect(await explain()).toContain('in a turn, the model is asked once')
    expect(JSON.parse(await explain('--json')).seen).toMatchObject([
      { at: 13, line: 1, form: 'glm', outcome: 'not run', why: 'in inline code' },
      { line: 3, form: '', outcome: 'not run' },
    ])
    here.write('said.txt', 'search(query="a"); search(query="b")')
    expect(JSON.parse(await explain('--json')).seen).toMatchObject([
      { at: 0, outcome: 'run', call: { arguments: { query: 'a' } } },
      { at: 0, outcome: 'run', call: { arguments: { query: 'b' } } },
    ])
    here.write('said.txt', 'It is late.')
    expect(await explain()).toContain('Nothing that looks like a call was seen.')
    here.write('said.txt', `${GLM.slice(0, -40)}`)
    expect(await explain()).toMatch(/\| refused: search \| malformed_call: /)
  })

  it('has no control characters of the model in its output', async () => {
    using here = inPlace(`\u001b[2J${GLM}`)
    expect((await here.run(['parse', 'said.txt', '--tools', 'tools.json'])).stdout).not.toContain('\u001b')
  })

  it.each([
    ['no tools', ['said.txt'], /no tools were given/],
    ['no such file', ['nope.txt', '--tools', 'tools.json'], /nope\.txt can't be read \(ENOENT\)/],
    ['no such rows', ['--jsonl', 'nope.jsonl'], /nope\.jsonl can't be read/],
    ['rows that are a folder', ['--jsonl', '.'], /can't be read \(EISDIR\)/],
    ['tools that are not JSON', ['said.txt', '--tools', 'said.txt'], /said\.txt is not valid JSON/],
    ['a folder', ['.', '--tools', 'tools.json'], /can't be read \(EISDIR\)/],
  ])('%s: says what to do', async (_, args, says) => {
    using here = inPlace('x')
    const { code, stderr } = await here.run(['parse', ...args])
    expect([code, stderr]).toEqual([2, expect.stringMatching(says)])
  })

  it.each([
    ['no list', 7, /must be a list/],
    ['a tool without a name', [{}], /tool 1 has no name/],
    ['two of a name', [search, search], /two tools are named "search"/],
    ['a strange effect', [{ ...search, effect: 'none' }], /the effect of search must be read, write, external/],
    ['a schema that is none', [{ ...search, parameters: 'x' }], /JSON Schema/],
  ])('tools with %s are told', async (_, tools, says) => {
    using here = inPlace('x', tools)
    const { code, stderr } = await here.run(['parse', 'said.txt', '--tools', 'tools.json'])
    expect([code, stderr]).toEqual([2, expect.stringMatching(says)])
  })
})

describe('mulligan parse --jsonl', () => {
  it('gives a row for a row, of text and of a call', async () => {
    const { code, rows: got } = await rows([
      { id: 'a', raw: `Look. ${GLM}`, tools: [search] },
      { id: 'b', call: { name: 'functions.Search', arguments: "{'query': 'x', limit: '5',}" }, tools: [search] },
      { id: 'c', call: { name: 'search', arguments: { query: 'x' } }, tools: [search] },
      { id: 'd', call: { name: 'write', arguments: '{"path":"a","text":"one' }, tools: [write], finishReason: 'length' },
      { id: 'e', call: { name: 'search', arguments: '{"query":"a"}{"query":"b"}' }, tools: [search] },
      { id: 'f', raw: GLM, tools: [search], finishReason: 'length' },
    ])
    expect(code).toBe(0)
    expect(
      got.map(({ id, calls, refused }) => [id, calls.map((call: { arguments: unknown }) => call.arguments), refused?.errorType]),
    ).toEqual([
      ['a', [{ query: 'plans', limit: 5 }], undefined],
      ['b', [{ query: 'x', limit: 5 }], undefined],
      ['c', [{ query: 'x' }], undefined],
      ['d', [], 'malformed_call'],
      ['e', [{ query: 'a' }, { query: 'b' }], undefined],
      ['f', [], 'malformed_call'],
    ])
    expect(got[0]).toEqual({
      id: 'a',
      calls: [{ name: 'search', arguments: { query: 'plans', limit: 5 } }],
      text: 'Look. ',
      notes: expect.any(Array),
      assumed: { effect: 'read', tools: ['search'] },
    })
    expect(got[3].assumed).toBeUndefined()
    expect(got[3].refused).toEqual({
      errorType: 'malformed_call',
      error: expect.stringContaining('truncated'),
      details: expect.any(Object),
    })
    expect(got[1].notes.map(({ kind, call }: { kind: string; call: number }) => [kind, call])).toEqual([
      ['name', 0],
      ['json', 0],
      ['type', 0],
    ])
  })

  it('repairs no text of a tool with effects', async () => {
    const bare = { name: 'write', arguments: '{path: a.md, text: some words}' }
    const { rows: got } = await rows([
      { id: 1, call: bare, tools: [write] },
      { id: 2, call: bare, tools: [{ ...write, effect: 'read' }] },
      { id: 3, call: bare, tools: [{ ...write, repair: 'full' }] },
      { id: 4, call: { name: 'search', arguments: '{"query": "x",}' }, tools: [{ ...search, repair: 'off' }] },
    ])
    expect(got.map(({ calls, refused }) => [calls.length, refused?.errorType])).toEqual([
      [0, 'malformed_call'],
      [1, undefined],
      [1, undefined],
      [0, 'malformed_call'],
    ])
  })

  it('takes a byte order mark, another word for the limit, and where the thinking begins', async () => {
    const { rows: got } = await rows([
      `\ufeff${JSON.stringify({ id: 1, raw: GLM, tools: [search] })}`,
      { id: 2, raw: GLM, tools: [search], finishReason: 'max_tokens' },
      { id: 3, raw: `${GLM}</think>No.`, tools: [search], opensInReasoning: true },
      { id: 4, raw: GLM, tools: [search], families: ['hermes'] },
    ])
    expect(got.map(({ calls, text }) => [calls.length, text])).toEqual([
      [1, ''],
      [0, ''],
      [0, 'No.'],
      [0, GLM],
    ])
  })

  it('a line that is not a row says so in its place, and the others come out', async () => {
    const { code, rows: got } = await rows([{ id: 1, raw: 'x', tools: [] }, '{ no', { id: 2 }, '7', { id: 3, raw: GLM, tools: [search] }])
    expect(code).toBe(1)
    expect(got.map(({ id, refused }) => [id, refused?.error])).toEqual([
      [1, undefined],
      [null, expect.stringMatching(/^no JSON/)],
      [2, expect.stringMatching(/"raw".*"call"/)],
      [null, 'a row must be an object'],
      [3, undefined],
    ])
  })
})
