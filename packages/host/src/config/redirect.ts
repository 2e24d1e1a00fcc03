/** Where a project's value would send the conversation; undefined for this machine. */
import { isLoopbackUrl } from '../models/base-url.ts'
import { isCloud, isProvider, providerEntry } from '../models/registry.ts'
import { OLLAMA_CLOUD } from '../models/servers/cloud-name.ts'

/** A name is a host too: only an address of this machine, or `localhost`, stays here. */
export function hostOfUrl(url: string): string | undefined {
  if (isLoopbackUrl(url)) return undefined
  return URL.canParse(url) ? new URL(url).hostname : url
}

export function hostOfModel(model: string): string | undefined {
  if (!isCloud(model)) return undefined
  const provider = model.split('/')[0] ?? ''
  return (isProvider(provider) ? providerEntry(provider).cloud?.host : undefined) ?? OLLAMA_CLOUD
}
