/**
 * What is known about models from their names: the publisher's recommended sampling, the notations they write calls in, whether they think.
 * A name does not prove what a model is: the user's settings and the server's reports override all of this.
 */
import type { Sampling as AgentSampling } from '@mulligan/agent'

/** How the next token is chosen. */
export type Sampling = AgentSampling & { readonly minP?: number }

export interface Profile {
  /** Name for display. */
  readonly name: string
  /** Matched against the model's own name in lower case. */
  readonly pattern: RegExp
  /** The publisher's recommendation. Default: the server's settings. */
  readonly sampling?: Sampling
  /** IDs of the call families that the model writes. Other families that could be prose are not looked for. Default: all families. */
  readonly families?: readonly string[]
  /** Whether it thinks before it answers. `can`: thinking can be switched on or off on its server. */
  readonly thinks: 'yes' | 'can' | 'no'
  /** Made for calling tools: preferred when several models are found. */
  readonly tools: boolean
}

/** Notations that any model may fall back to if its template or its server is faulty. */
const COMMON = ['hermes', 'tool-calls', 'bare']

type Facts = Partial<Pick<Profile, 'thinks' | 'tools' | 'sampling'>>

/** Defines a profile. @param own families in addition to the common ones; undefined to look for every notation */
const profile = (name: string, pattern: RegExp, own: readonly string[] | undefined, facts: Facts = {}): Profile => ({
  ...{ name, pattern, thinks: 'can', tools: true },
  ...(own && { families: [...own, ...COMMON] }),
  ...facts,
})

/** The first match counts. Sampling is only listed where its source was read. */
export const PROFILES: readonly Profile[] = [
  // huggingface.co/zai-org/GLM-4.7-Flash, "Evaluation Parameters": these are for Terminal Bench and SWE-bench, the kind of work done here;
  // the others are 1.0 and 0.95. unsloth.ai/docs/models/tutorials/glm-5 has the same.
  profile('GLM 4.7 and 5', /^glm-?(?:4\.[7-9]|5)/, ['glm'], { sampling: { temperature: 0.7, topP: 1 } }),
  profile('GLM 4.5 and 4.6', /^glm-?4\.[56]/, ['glm']),
  // lmstudio.ai/roblearned/qwen3-coder-30b-a3b-recommended; the generation_config.json of Qwen2.5-Coder is the same.
  profile('Qwen3-Coder', /^qwen-?3(?:\.\d)?-coder/, ['qwen-coder'], { thinks: 'no', sampling: { temperature: 0.7, topP: 0.8, topK: 20 } }),
  profile('Qwen3 Instruct', /^qwen-?3.*instruct/, ['qwen-coder'], { thinks: 'no' }),
  // github.com/QwenLM/Qwen3, README, "llama.cpp". Greedy decoding makes it repeat itself.
  profile('Qwen3', /^(?:qwen-?3(?!\.)|qwq)/, ['qwen-coder'], { sampling: { temperature: 0.6, topP: 0.95, topK: 20, minP: 0 } }),
  profile('Qwen3.5 and later', /^qwen-?3\.\d/, ['qwen-coder']),
  // generation_config.json of Qwen2.5-Coder-32B-Instruct.
  profile('Qwen2.5', /^qwen-?2\.5/, [], { thinks: 'no', sampling: { temperature: 0.7, topP: 0.8, topK: 20 } }),
  // github.com/openai/gpt-oss, README, "Recommended Sampling Parameters".
  profile('gpt-oss', /^gpt-?oss/, ['harmony'], { thinks: 'yes', sampling: { temperature: 1, topP: 1 } }),
  profile('Magistral', /^(?:magistral|ministral.*reasoning)/, ['mistral'], { thinks: 'yes' }),
  profile('Mistral, Ministral and Devstral', /^(?:mistral|ministral|mixtral|codestral|devstral)/, ['mistral'], { thinks: 'no' }),
  // generation_config.json of deepseek-ai/DeepSeek-R1; together.ai's guide has 0.5 to 0.7, against endless repetition. Its distilled
  // versions are based on other models, so every notation is looked for.
  profile('DeepSeek R1', /^deepseek-r1/, undefined, { thinks: 'yes', tools: false, sampling: { temperature: 0.6, topP: 0.95 } }),
  profile('DeepSeek', /^deepseek/, ['deepseek', 'dsml']),
  profile('Hermes', /^(?:nous-?)?(?:deep)?hermes/, []),
  // generation_config.json of Llama-3.3-70B-Instruct.
  profile('Llama 3', /^(?:meta-)?llama-?3/, ['llama3', 'llama-function'], { thinks: 'no', sampling: { temperature: 0.6, topP: 0.9 } }),
  profile('Llama 4', /^(?:meta-)?llama-?4/, ['llama4'], { thinks: 'no' }),
  // gemma4pro.xyz/zh/guide, "Sampling Params"; the same as for Gemma 3.
  profile('Gemma 4', /^gemma-?4/, ['gemma', 'tool-code'], { sampling: { temperature: 1, topP: 0.95, topK: 64 } }),
  // "According to the Gemma team", lmstudio.ai/yazon/gemma-3.
  profile('Gemma 3', /^gemma-?3/, ['gemma', 'tool-code'], {
    thinks: 'no',
    tools: false,
    sampling: { temperature: 1, topP: 0.95, topK: 64, minP: 0 },
  }),
  // docs.sglang.io/cookbook/autoregressive/IBM/Granite-4.2, "Model introduction".
  profile('Granite 4.2', /^granite-?4\.2/, ['granite'], { sampling: { temperature: 1, topP: 0.95 } }),
  profile('Granite', /^granite/, ['granite'], { thinks: 'no' }),
  profile('Phi-4 reasoning', /^phi-?4.*reasoning/, ['functools', 'granite'], { thinks: 'yes', tools: false }),
  profile('Phi-4', /^phi-?4/, ['functools', 'granite'], { thinks: 'no', tools: false }),
]

/** Returns the name without its prefix: `zai-org/GLM-4.7-Flash-GGUF:Q4_K_M` → `glm-4.7-flash-gguf:q4_k_m`. Accepts paths too. */
const ownName = (name: string): string =>
  (name.toLowerCase().split(/[\\/]/).at(-1) ?? '').replace(
    /^(?:qwen_|zai-org_|thudm_|openai_|mistralai_|google_|ibm-granite_|microsoft_)/,
    '',
  )

export const profileOf = (name: string): Profile | undefined => PROFILES.find(({ pattern }) => pattern.test(ownName(name)))
