/**
 * Filters a repository's settings, dropping those that name programs. It keeps an allowlist of harmless settings, so a setting that
 * a later version of git treats as a program is dropped.
 */
import { stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { runProgram } from '../program.ts'

/** Variables by section, for sections without a subsection. */
const SECTIONS: Readonly<Record<string, string>> = {
  core: `repositoryformatversion bare filemode ignorecase symlinks precomposeunicode hidedotfiles protecthfs protectntfs worktree
    logallrefupdates autocrlf eol safecrlf checkroundtripencoding trustctime checkstat quotepath abbrev sharedrepository compression
    loosecompression bigfilethreshold sparsecheckout sparsecheckoutcone splitindex untrackedcache preloadindex multipackindex commitgraph
    commentchar commentstring whitespace warnambiguousrefs excludesfile attributesfile`,
  extensions: 'objectformat compatobjectformat refstorage worktreeconfig noop preciousobjects relativeworktrees partialclone',
  user: 'name email signingkey useconfigonly',
  author: 'name email',
  committer: 'name email',
  branch: 'autosetupmerge autosetuprebase sort',
  commit: 'gpgsign cleanup status verbose',
  tag: 'gpgsign sort',
  gpg: 'format',
  push: 'default followtags autosetupremote recursesubmodules',
  pull: 'ff rebase',
  fetch: 'prune prunetags recursesubmodules parallel writecommitgraph',
  merge: 'conflictstyle ff log renames renamelimit directoryrenames',
  rebase: 'autosquash autostash stat updaterefs missingcommitscheck abbreviatecommands forkpoint',
  rerere: 'enabled autoupdate',
  diff: `algorithm autorefreshindex colormoved colormovedws context dirstat ignoresubmodules indentheuristic interhunkcontext mnemonicprefix
    noprefix orderfile relative renamelimit renames statgraphwidth submodule suppressblankempty wordregex wserrorhighlight`,
  status: 'aheadbehind branch displaycommentprefix relativepaths renamelimit renames short showstash showuntrackedfiles',
  log: 'abbrevcommit date decorate diffmerges excludedecoration follow mailmap showroot',
  grep: 'column extendedregexp fullname linenumber patterntype',
  blame: 'blankboundary coloring date showemail showroot',
  color: 'advice branch diff grep interactive push remote showbranch status transport ui',
  column: 'branch clean status tag ui',
  i18n: 'commitencoding logoutputencoding filesencoding',
  index: 'recordendofindexentries recordoffsettable skiphash sparse threads version',
  feature: 'experimental manyfiles',
  gc: 'auto autodetach autopacklimit',
  maintenance: 'auto',
  submodule: 'active fetchjobs recurse',
  init: 'defaultbranch',
  lfs: 'repositoryformatversion',
}

/** Variables of sections with a subsection: `[remote "origin"]`. */
const NAMED: Readonly<Record<string, string>> = {
  remote: 'url pushurl fetch push tagopt prune prunetags mirror skipdefaultupdate promisor partialclonefilter',
  branch: 'remote merge rebase pushremote description',
  submodule: 'url active branch path ignore shallow fetchrecursesubmodules',
  url: 'insteadof pushinsteadof',
  diff: 'xfuncname funcname wordregex binary algorithm',
  // Without the filter program, files that need conversion are rejected instead of being committed unconverted.
  filter: 'required',
  color: '\\w+',
}

const words = (table: Readonly<Record<string, string>>, between: string): readonly string[] =>
  Object.entries(table).map(([section, variables]) => `${section}\\.${between}(?:${variables.trim().split(/\s+/).join('|')})`)

const HARMLESS = new RegExp(`^(?:${[...words(SECTIONS, ''), ...words(NAMED, '.+\\.')].join('|')})$`, 's')

/** Returns whether a setting names no program, judging by its key. Pure. */
export const isHarmless = (key: string): boolean => HARMLESS.test(key) && !key.includes('\n')

/** A setting in the notation of `git config --list`, with section and variable in lower case. Without a value it is true. */
export type ConfigSetting = readonly [key: string, value: string | undefined]

/**
 * Returns the harmless settings as a git config file. Pure.
 *
 * @example
 * harmlessConfig([['core.bare', 'false'], ['core.fsmonitor', './evil']]) // '[core]\n\tbare = "false"\n'
 */
export function harmlessConfig(settings: readonly ConfigSetting[]): string {
  const lines = settings.flatMap(([key, value]) => {
    const [, section = '', name, variable] = /^([^.]+)(?:\.(.+))?\.([^.]+)$/s.exec(key) ?? []
    if (!isHarmless(key)) return []
    const header = name === undefined ? `[${section}]` : `[${section} "${name.replace(/[\\"]/g, '\\$&')}"]`
    return [header, `\t${variable}${value === undefined ? '' : ` = ${quoted(value)}`}`]
  })
  return lines.map((line) => `${line}\n`).join('')
}

/** Parses the output of `git config --list -z`. Pure. */
export function settingsIn(listed: string): ConfigSetting[] {
  const entries = listed.split('\0').slice(0, -1)
  return entries.map((entry) => {
    const end = entry.indexOf('\n')
    return end === -1 ? [entry, undefined] : [entry.slice(0, end), entry.slice(end + 1)]
  })
}

const ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\t': '\\t', '\b': '\\b', '"': '\\"', '\\': '\\\\' }
const quoted = (value: string): string => `"${value.replace(/[\n\t\x08"\\]/g, (sign) => ESCAPES[sign] ?? sign)}"`

const MAX_BYTES = 1024 * 1024
/** In milliseconds. */
const READ_TIMEOUT = 5_000

/**
 * Returns the harmless settings of a file and the files it includes, as read by git itself. A file that does not exist, can't be
 * read or is not a regular file counts as empty.
 *
 * @param git its absolute path
 */
export async function readHarmlessConfig(git: string, file: string): Promise<string> {
  const found = await stat(file).catch(() => undefined)
  if (!found?.isFile() || found.size > MAX_BYTES) return ''
  const args = ['config', '--file', file, '--includes', '--list', '-z']
  const options = { cwd: tmpdir(), env: NO_REPOSITORY, timeout: READ_TIMEOUT, maxBuffer: 4 * MAX_BYTES }
  const { stdout } = await runProgram(git, args, options).catch(() => ({ stdout: '' }))
  return harmlessConfig(settingsIn(stdout))
}

/** Makes git read only the named file. */
const NO_REPOSITORY = { PATH: '', GIT_DIR: '/dev/null', GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null', LC_ALL: 'C.UTF-8' }
