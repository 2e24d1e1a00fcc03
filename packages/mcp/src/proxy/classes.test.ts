/** What models get wrong with servers of all kinds: git, fetch, SQL, issue trackers, pages, browsers, time. */
import { describe, expect, it } from 'vitest'
import { catalogOf } from './catalog.ts'
import { mendCall } from './mend-call.ts'
import { mendResult } from './mend-result.ts'

const of = (properties: object, required: readonly string[] = [], more: object = {}): object => ({
  type: 'object',
  properties,
  required,
  ...more,
})
const [str, int] = [{ type: 'string' }, { type: 'integer' }]
const catalog = catalogOf(
  Object.entries({
    git_log: of({ repo_path: str, max_count: int }, ['repo_path']),
    list_issues: of({ owner: str, state: { type: 'string', enum: ['open', 'closed'] }, since: { type: 'string', format: 'date-time' } }, [
      'owner',
    ]),
    push_files: of({ files: { type: 'array', items: of({ path: str, content: str }, ['path', 'content']) } }, ['files']),
    read_query: of({ query: str }, ['query']),
    click: of({ ref: str, modifiers: { type: 'array', items: { enum: ['Alt', 'Control'] } } }, ['ref'], { additionalProperties: false }),
    ping: of({}),
    edit_file: of(
      {
        path: str,
        edits: { type: 'array', items: of({ oldText: str, newText: str }, ['oldText', 'newText']) },
        dryRun: { type: 'boolean' },
      },
      ['path', 'edits'],
    ),
    create_entities: of(
      {
        entities: {
          type: 'array',
          items: of({ name: str, entityType: str, observations: { type: 'array', items: str } }, ['name', 'entityType', 'observations']),
        },
      },
      ['entities'],
    ),
    create_page: of({ parent: of({ page_id: str }, ['page_id']), title: str }, ['parent']),
    move_file: of({ source: str, destination: str }, ['source', 'destination']),
    get_sum: of({ a: int, b: int }, ['a', 'b']),
    git_add: of({ path: str, paths: { type: 'array', items: str } }, [], { additionalProperties: false }),
    get_issue: of({ owner: str, repo: str, issue_number: int }, ['owner', 'repo', 'issue_number']),
    wait_for: of({ time: { type: 'number' }, text: str }),
    query_page: of({ filter: { anyOf: [of({ property: str }, ['property']), { type: 'array', items: of({}) }] }, page_size: int }),
  }).map(([name, inputSchema]) => ({ name, inputSchema })),
)
const FILE = { path: 'a', content: 'b' }

describe('a call', () => {
  it.each<[name: string, sent: unknown, name: string, args: unknown, note: RegExp]>([
    ['mcp__git__git_log', { repo_path: '/r' }, 'git_log', { repo_path: '/r' }, /without the name of a server/],
    ['git:git_log', { repo_path: '/r' }, 'git_log', { repo_path: '/r' }, /without the name/],
    ['git_log', { repoPath: '/r', max_count: '5' }, 'git_log', { repo_path: '/r', max_count: 5 }, /case and separators/],
    ['git_log', { repo_path: '/r', max_count: null }, 'git_log', { repo_path: '/r' }, /null for an optional/],
    ['list_issues', { owner: 'o', state: 'OPEN' }, 'list_issues', { owner: 'o', state: 'open' }, /case and separators/],
    ['click', { ref: 'e', modifiers: ['control'] }, 'click', { ref: 'e', modifiers: ['Control'] }, /case and separators/],
    ['push_files', { files: JSON.stringify([FILE]) }, 'push_files', { files: [FILE] }, /JSON text/],
    ['push_files', { files: FILE }, 'push_files', { files: [FILE] }, /a list belongs/],
    [
      'push_files',
      { files: [{ ...FILE, mode: '1' }] },
      'push_files',
      { files: [{ ...FILE, mode: '1' }] },
      /"files\[0\]" of push_files has no "mode"/,
    ],
    [
      'edit_file',
      { path: 'a', oldText: 'x', newText: 'y' },
      'edit_file',
      { path: 'a', edits: [{ oldText: 'x', newText: 'y' }] },
      /in place of it/,
    ],
    [
      'create_entities',
      { name: 'A', entityType: 't', observations: 'x' },
      'create_entities',
      { entities: [{ name: 'A', entityType: 't', observations: ['x'] }] },
      /in place of it[\s\S]*"entities\[0\]\.observations".*a list belongs/,
    ],
    [
      'create_entities',
      { entities: { name: 'A', entityType: 't', observations: 'x' } },
      'create_entities',
      { entities: [{ name: 'A', entityType: 't', observations: ['x'] }] },
      /a list belongs/,
    ],
    ['create_page', { page_id: 'p', title: 't' }, 'create_page', { parent: { page_id: 'p' }, title: 't' }, /in place of it/],
    ['create_page', { parent: '{"page_id":"p"}' }, 'create_page', { parent: { page_id: 'p' } }, /JSON text/],
    [
      'get_issue',
      { owner: 'o', repo: 'r', issueNumber: '5' },
      'get_issue',
      { owner: 'o', repo: 'r', issue_number: 5 },
      /number sent as text/,
    ],
    ['get_sum', { a: 1, b: 2, c: 3 }, 'get_sum', { a: 1, b: 2, c: 3 }, /no parameter "c", so it had no effect; it has "a", "b"/],
    ['wait_for', { seconds: 1 }, 'wait_for', { seconds: 1 }, /no parameter "seconds", so it had no effect; did you mean "time"/],
    ['wait_for', { arguments: { time: '1' } }, 'wait_for', { time: 1 }, /inside another object/],
    ['query_page', { filter: '{"property":"x"}', page_size: '5' }, 'query_page', { filter: { property: 'x' }, page_size: 5 }, /JSON text/],
    ['ping', [], 'ping', {}, /empty object/],
    ['ping', null, 'ping', {}, /empty object/],
  ])('%s %j is sent as %s %j', (name, args, tool, input, note) => {
    const mended = mendCall({ name, arguments: args }, catalog)
    expect(mended).toMatchObject({ kind: 'send', params: { arguments: input }, tool: { name: tool } })
    expect(mended.kind === 'send' && mended.notes.join('\n')).toMatch(note)
  })

  it.each<[name: string, args: object, says: RegExp, call?: object]>([
    ['read_query', { sql: 'x' }, /did you mean "query"/, { query: 'x' }],
    ['push_files', { files: [{ filePath: 'a', content: 'b' }] }, /files\[0\]\.path/, { files: [FILE] }],
    ['list_issues', { owner: 'o', state: 'done' }, /one of "open", "closed"/],
    ['git_log', { repo_path: '/r', max_count: 5.5 }, /whole number/],
    ['click', { ref: 'e', x: 1 }, /not a parameter/, { ref: 'e' }],
    ['nothing_like_it', {}, /The tools are git_log, list_issues/],
    ['git_logs', { repo_path: '/r' }, /Did you mean git_log\?\nThe tools are git_log, list_issues/],
    ['move_file', { from: 'a', to: 'b' }, /did you mean "source".*did you mean "destination"/, { source: 'a', destination: 'b' }],
    ['get_sum', { x: 1, y: 2 }, /"x" is not a parameter of this tool; it takes a, b/],
    ['git_add', { path: '/r', files: ['a'] }, /did you mean "paths"/, { path: '/r', paths: ['a'] }],
    ['get_issue', { owner: 'o', repo: 'r', number: 5 }, /did you mean "issue_number"/, { owner: 'o', repo: 'r', issue_number: 5 }],
    ['get_issue', { owner: 'o', repo: 'r', issue_number: '#5' }, /must be a whole number, but was "#5"/],
    ['edit_file', { path: 'a', edits: ['x'] }, /"edits\[0\]" must be an object/],
    ['edit_file', { path: 'a', oldText: 'x' }, /"edits" is missing/],
    ['edit_file', { path: 'a', oldText: 'x', newText: 'y', more: 1 }, /"edits" is missing/],
  ])('%s %j is refused: %s', async (name, args, says, call) => {
    const mended = mendCall({ name, arguments: args }, catalog)
    const error = mended.kind === 'refuse' ? await mended.error : undefined
    expect(error?.error).toMatch(says)
    if (call) expect(error?.details?.['call']).toEqual({ tool: name, input: call })
  })

  it('with a text that lacks its format is sent, and a refusal names the format', () => {
    const mended = mendCall({ name: 'list_issues', arguments: { owner: 'o', since: '2024-01-01' } }, catalog)
    expect(mended).toMatchObject({ kind: 'send', repairs: [], notes: [], hints: [expect.stringContaining('a date with time and zone')] })
  })
})

describe('a result', () => {
  const mended = (content: readonly unknown[], more: object = {}, told: object = {}) =>
    mendResult({ content, ...more }, { hasArguments: true, notes: [], ...told })
  const says = (text: string) => [{ type: 'text', text }]

  it.each([
    'Error: no such table: x',
    'Database error: no such table: x',
    '❌ Error: not found',
    '**Error**: not found',
    '[ERROR]: not found',
    'MCP error -32602: wrong',
    'ENOENT Error: no such file\n    at Object.open (node:fs:5:1)\n    at main (/srv/x.js:1:1)',
    '<error>Failed to fetch robots.txt</error>',
    '{"error":"not found"}',
    '{"success":false,"message":"no"}',
  ])('%j is an error', (text) => expect(mended(says(text)).result.isError).toBe(true))

  it.each([
    'Errors: 0\nWarnings: 2',
    'no error: fine\nand more',
    '{"error":null,"rows":[]}',
    '{"name":"error","rows":1}',
    'The log says Error: x at noon.\nDone.',
  ])('%j is none', (text) => expect(mended(says(text)).mends).toEqual([]))

  it('without content shows its structured content', () =>
    expect(mended([], { structuredContent: { a: 1 } }).result.content).toEqual(says('{"a":1}')))

  it.each([
    { content: '' },
    { matches: [], next: null },
  ])('with no text and the structured content %j says that it is empty', (structuredContent) => {
    const { result, mends } = mended(says(''), { structuredContent })
    expect([mends, result.structuredContent, result.content]).toEqual([
      ['empty'],
      structuredContent,
      says('The tool returned nothing, and reported no error.'),
    ])
  })

  it('with no text and structured content that says something is left alone', () =>
    expect(mended(says(''), { structuredContent: { count: 0 } }).mends).toEqual([]))

  it('that breaks its output schema says so, keeps what it says, and warns of a repeat', () => {
    const outputSchema = of({ sum: int }, ['sum'])
    const { result } = mended(says('3'), { structuredContent: { sum: 'three' } }, { outputSchema })
    expect([result.isError, JSON.stringify(result.content)]).toEqual([
      true,
      expect.stringMatching(/"3".*\\"sum\\" must be.*may repeat its effect/),
    ])
    expect(mended(says('3'), {}, { outputSchema }).mends).toEqual(['broken_output'])
    expect(mended(says('3'), { structuredContent: { sum: 3, more: 1 } }, { outputSchema }).mends).toEqual([])
  })

  it('that is an error has the hints about formats', () => {
    const hints = ['"since" should be a date.']
    expect(JSON.stringify(mended(says('bad'), { isError: true }, { hints }).result.content)).toContain('Hint: ')
    expect(mended(says('fine'), {}, { hints }).mends).toEqual([])
  })
})
