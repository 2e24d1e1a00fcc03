export { type JudgeOptions, judgeCommand, MAX_SCRIPT } from './judge.ts'
export type { Finding, Judged, Redirection, SimpleCommand, SyntaxProblem, Verdict } from './types.ts'
