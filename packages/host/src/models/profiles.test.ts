import { families } from '@mulligan/repair'
import { describe, expect, it } from 'vitest'
import { PROFILES, profileOf } from './profiles.ts'

describe('the profile of a name', () => {
  it.each([
    ['glm-4.7-flash:latest', 'GLM 4.7 and 5'],
    ['zai-org/GLM-4.7-Flash', 'GLM 4.7 and 5'],
    ['unsloth/GLM-5-GGUF:UD-Q2_K_XL', 'GLM 4.7 and 5'],
    ['/models/zai-org_GLM-4.7-Flash-Q4_K_M.gguf', 'GLM 4.7 and 5'],
    ['C:\\models\\GLM-4.5-Air.gguf', 'GLM 4.5 and 4.6'],
    ['qwen3:8b', 'Qwen3'],
    ['Qwen/Qwen3-30B-A3B-Thinking-2507', 'Qwen3'],
    ['qwen3:30b-a3b-instruct-2507-q4_K_M', 'Qwen3 Instruct'],
    ['qwen3-coder:30b', 'Qwen3-Coder'],
    ['Qwen3.5-35B-A3B', 'Qwen3.5 and later'],
    ['qwen2.5-coder:7b', 'Qwen2.5'],
    ['gpt-oss:20b', 'gpt-oss'],
    ['openai/gpt-oss-120b', 'gpt-oss'],
    ['llama3.3:70b', 'Llama 3'],
    ['meta-llama/Llama-3.1-8B-Instruct', 'Llama 3'],
    ['Meta-Llama-3.1-8B', 'Llama 3'],
    ['llama4:scout', 'Llama 4'],
    ['devstral-small-2:24b', 'Mistral, Ministral and Devstral'],
    ['mistral-small3.2', 'Mistral, Ministral and Devstral'],
    ['ministral-3:8b', 'Mistral, Ministral and Devstral'],
    ['magistral:24b', 'Magistral'],
    ['deepseek-r1:14b', 'DeepSeek R1'],
    ['DeepSeek-R1-Distill-Qwen-32B', 'DeepSeek R1'],
    ['deepseek-v3.1:671b', 'DeepSeek'],
    ['gemma3:12b', 'Gemma 3'],
    ['gemma-4-26b-a4b-it', 'Gemma 4'],
    ['granite4:tiny-h', 'Granite'],
    ['ibm-granite/granite-4.2-8b', 'Granite 4.2'],
    ['phi4-mini', 'Phi-4'],
    ['phi4-reasoning:plus', 'Phi-4 reasoning'],
    ['hermes3:8b', 'Hermes'],
    ['NousResearch/Hermes-4-14B', 'Hermes'],
    ['smollm2', undefined],
    ['my-glm-4.7', undefined],
  ])('%s is that of %s', (name, profile) => expect(profileOf(name)?.name).toBe(profile))
})

it('every family that a profile names is there, and samples within bounds', () => {
  const ids = families.map(({ id }) => id)
  for (const { name, families: own = [], sampling = {} } of PROFILES) {
    expect([name, own.filter((id) => !ids.includes(id))]).toEqual([name, []])
    expect(sampling.temperature ?? 1).toBeLessThanOrEqual(1)
    expect(sampling.topP ?? 1).toBeLessThanOrEqual(1)
  }
})

it('no profile is behind one that takes its names', () => {
  expect(new Set(PROFILES.map(({ name }) => name)).size).toBe(PROFILES.length)
})
