import { describe, expect, it } from 'vitest'
import { contextExceeded } from './exceeded.ts'

describe('a request that is longer than the context, in the words of', () => {
  it.each<[string, string, number | undefined]>([
    [
      'OpenAI',
      "This model's maximum context length is 128000 tokens. However, your messages resulted in 130211 tokens. Please reduce the length of the messages.",
      128_000,
    ],
    ['OpenAI, later', 'Your input exceeds the context window of this model. Please adjust your input and try again.', undefined],
    ['OpenAI, a code', '{"error":{"message":"too long","code":"context_length_exceeded"}}', undefined],
    ['Azure', 'Input tokens exceed the configured limit of 272,000 tokens. Your messages resulted in 300000 tokens.', 272_000],
    ['Anthropic', 'prompt is too long: 208310 tokens > 200000 maximum', 200_000],
    [
      'Anthropic, with the reply',
      'input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length',
      200_000,
    ],
    [
      'llama.cpp',
      '{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","n_prompt_tokens":5123,"n_ctx":4096}}',
      4096,
    ],
    ['llama.cpp, later', 'request (5123 tokens) exceeds the available context size (4096 tokens), try increasing it', 4096],
    [
      'vLLM',
      "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4500 in the messages, 500 in the completion).",
      4096,
    ],
    ['vLLM, later', 'The decoder prompt (length 5012) is longer than the maximum model length of 4096.', 4096],
    ['SGLang', "The input (5000 tokens) is longer than the model's context length (4096 tokens).", 4096],
    [
      'LM Studio',
      'Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens',
      4096,
    ],
    ['Ollama', 'the input length exceeds the context length', undefined],
    ['Gemini', 'The input token count (1048600) exceeds the maximum number of tokens allowed (1048576).', 1_048_576],
    ['Mistral', 'Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length', 32_768],
    ['Bedrock', 'Input is too long for requested model.', undefined],
    ['TGI', '`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens', 4096],
  ])('%s', (_, says, limit) => expect(contextExceeded(says)).toEqual(limit === undefined ? {} : { limit }))

  it.each([
    'Rate limit reached for model: Limit 6000 tokens per minute, requested 8000. Please reduce the length of the messages.',
    'invalid api key',
    'The model `gpt-9` does not exist.',
    'max_tokens must be at most 4096',
    'Internal error: context canceled',
  ])('another trouble is none: %s', (says) => expect(contextExceeded(says)).toBeUndefined())
})
