export const OLLAMA_CLOUD = 'ollama.com'

/** Ollama lists models of its cloud beside those of this machine: `gpt-oss:120b-cloud`, `glm-4.6:cloud`. */
export const isOllamaCloud = (name: string): boolean => /[:-]cloud$/.test(name)
