/**
 * What is known of models by their names: how their publisher has them sampled, in which notations they write calls, whether they
 * think. A name says what a model is called, not what it is: what a person or a server says overrides all of this.
 */
import type { Sampling as AgentSampling } from '@mulligan/agent'

/** How the next token is chosen. */
export type Sampling = AgentSampling & { readonly minP?: number }

export interface Profile {
  /** For the person. */
  readonly name: string
  /** Of the model's own name, in small letters. */
  readonly pattern: RegExp
  /** As its publisher recommends. Default: what the server has. */
  readonly sampling?: Sampling
  /** Ids of the families of calls that it writes. Of those that could be prose too, the others are not looked for. Default: all are. */
  readonly families?: readonly string[]
  /** Whether it thinks before it answers. `can`: that can be switched, at its server. */
  readonly thinks: 'yes' | 'can' | 'no'
  /** Made for calling tools: taken first where several models are found. */
  readonly tools: boolean
}

/** Notations that any model falls into when its template or its server lets it down. */
const COMMON = ['hermes', 'tool-calls', 'bare']

/** The first one that fits counts. Sampling only where its source was read. */
export const PROFILES: readonly Profile[] = [
  {
    name: 'GLM 4.7 and 5',
    // huggingface.co/zai-org/GLM-4.7-Flash, "Evaluation Parameters": these for Terminal Bench and SWE-bench, the kind of work done
    // here, 1.0 and 0.95 for the rest; unsloth.ai/docs/models/tutorials/glm-5 has the same.
    pattern: /^glm-?(?:4\.[7-9]|5)/,
    sampling: { temperature: 0.7, topP: 1 },
    families: ['glm', ...COMMON],
    thinks: 'can',
    tools: true,
  },
  { name: 'GLM 4.5 and 4.6', pattern: /^glm-?4\.[56]/, families: ['glm', ...COMMON], thinks: 'can', tools: true },
  {
    name: 'Qwen3-Coder',
    // lmstudio.ai/roblearned/qwen3-coder-30b-a3b-recommended; the generation_config.json of Qwen2.5-Coder is the same.
    pattern: /^qwen-?3(?:\.\d)?-coder/,
    sampling: { temperature: 0.7, topP: 0.8, topK: 20 },
    families: ['qwen-coder', ...COMMON],
    thinks: 'no',
    tools: true,
  },
  {
    name: 'Qwen3 Instruct',
    pattern: /^qwen-?3.*instruct/,
    families: ['qwen-coder', ...COMMON],
    thinks: 'no',
    tools: true,
  },
  {
    name: 'Qwen3',
    // github.com/QwenLM/Qwen3, README, "llama.cpp". Greedy decoding makes it repeat itself.
    pattern: /^(?:qwen-?3(?!\.)|qwq)/,
    sampling: { temperature: 0.6, topP: 0.95, topK: 20, minP: 0 },
    families: ['qwen-coder', ...COMMON],
    thinks: 'can',
    tools: true,
  },
  { name: 'Qwen3.5 and later', pattern: /^qwen-?3\.\d/, families: ['qwen-coder', ...COMMON], thinks: 'can', tools: true },
  {
    name: 'Qwen2.5',
    // generation_config.json of Qwen2.5-Coder-32B-Instruct.
    pattern: /^qwen-?2\.5/,
    sampling: { temperature: 0.7, topP: 0.8, topK: 20 },
    families: COMMON,
    thinks: 'no',
    tools: true,
  },
  {
    name: 'gpt-oss',
    // github.com/openai/gpt-oss, README, "Recommended Sampling Parameters".
    pattern: /^gpt-?oss/,
    sampling: { temperature: 1, topP: 1 },
    families: ['harmony', ...COMMON],
    thinks: 'yes',
    tools: true,
  },
  { name: 'Magistral', pattern: /^(?:magistral|ministral.*reasoning)/, families: ['mistral', ...COMMON], thinks: 'yes', tools: true },
  {
    name: 'Mistral, Ministral and Devstral',
    pattern: /^(?:mistral|ministral|mixtral|codestral|devstral)/,
    families: ['mistral', ...COMMON],
    thinks: 'no',
    tools: true,
  },
  {
    name: 'DeepSeek R1',
    // generation_config.json of deepseek-ai/DeepSeek-R1; together.ai's guide has 0.5 to 0.7, against endless repetition. Its distilled
    // models are others' by make, so every notation is looked for.
    pattern: /^deepseek-r1/,
    sampling: { temperature: 0.6, topP: 0.95 },
    thinks: 'yes',
    tools: false,
  },
  { name: 'DeepSeek', pattern: /^deepseek/, families: ['deepseek', 'dsml', ...COMMON], thinks: 'can', tools: true },
  {
    name: 'Hermes',
    pattern: /^(?:nous-?)?(?:deep)?hermes/,
    families: COMMON,
    thinks: 'can',
    tools: true,
  },
  {
    name: 'Llama 3',
    // generation_config.json of Llama-3.3-70B-Instruct.
    pattern: /^(?:meta-)?llama-?3/,
    sampling: { temperature: 0.6, topP: 0.9 },
    families: ['llama3', 'llama-function', ...COMMON],
    thinks: 'no',
    tools: true,
  },
  { name: 'Llama 4', pattern: /^(?:meta-)?llama-?4/, families: ['llama4', ...COMMON], thinks: 'no', tools: true },
  {
    name: 'Gemma 4',
    // gemma4pro.xyz/zh/guide, "Sampling Params"; they are those of Gemma 3.
    pattern: /^gemma-?4/,
    sampling: { temperature: 1, topP: 0.95, topK: 64 },
    families: ['gemma', 'tool-code', ...COMMON],
    thinks: 'can',
    tools: true,
  },
  {
    name: 'Gemma 3',
    // "According to the Gemma team", lmstudio.ai/yazon/gemma-3.
    pattern: /^gemma-?3/,
    sampling: { temperature: 1, topP: 0.95, topK: 64, minP: 0 },
    families: ['gemma', 'tool-code', ...COMMON],
    thinks: 'no',
    tools: false,
  },
  {
    name: 'Granite 4.2',
    // docs.sglang.io/cookbook/autoregressive/IBM/Granite-4.2, "Model introduction".
    pattern: /^granite-?4\.2/,
    sampling: { temperature: 1, topP: 0.95 },
    families: ['granite', ...COMMON],
    thinks: 'can',
    tools: true,
  },
  { name: 'Granite', pattern: /^granite/, families: ['granite', ...COMMON], thinks: 'no', tools: true },
  { name: 'Phi-4 reasoning', pattern: /^phi-?4.*reasoning/, families: ['functools', 'granite', ...COMMON], thinks: 'yes', tools: false },
  { name: 'Phi-4', pattern: /^phi-?4/, families: ['functools', 'granite', ...COMMON], thinks: 'no', tools: false },
]

/** The name without what is before it: `zai-org/GLM-4.7-Flash-GGUF:Q4_K_M` → `glm-4.7-flash-gguf:q4_k_m`; a path will do. */
export const ownName = (name: string): string =>
  (name.toLowerCase().split(/[\\/]/).at(-1) ?? '').replace(
    /^(?:qwen_|zai-org_|thudm_|openai_|mistralai_|google_|ibm-granite_|microsoft_)/,
    '',
  )

export const profileOf = (name: string): Profile | undefined => PROFILES.find(({ pattern }) => pattern.test(ownName(name)))
