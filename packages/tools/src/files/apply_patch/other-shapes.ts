/** Converts the patch calls of other agents to `{ patch }`. Pure. */

const NAMES = ['patch', 'input', 'diff', 'patch_text', 'patchText', 'command', 'cmd', 'content', 'text'] as const

export function fromOtherShapes(input: Record<string, unknown>): Record<string, unknown> {
  const name = NAMES.find((one) => input[one] !== undefined)
  if (name === undefined) return input
  const { [name]: value, path, ...rest } = input
  const patch = textOf(value)
  if (patch === undefined) return input
  // Only hunks, with the path in a separate field.
  if (typeof path === 'string' && /^\s*@@/.test(patch))
    return { ...rest, patch: `*** Begin Patch\n*** Update File: ${path}\n${patch.trimEnd()}\n*** End Patch` }
  return { ...rest, ...(path !== undefined && { path }), patch }
}

/** In `["apply_patch", "…"]` and `["bash", "-lc", "apply_patch <<'EOF' …"]` the last element is the patch. */
function textOf(value: unknown): string | undefined {
  const last: unknown = Array.isArray(value) ? value.at(-1) : value
  return typeof last === 'string' ? last : undefined
}
