import type { Basics } from './basics.ts'

/** Equal for identical calls of one agent: by it a repeated call finds its request, and a grant its calls. */
export const callKeyOf = (
  { digest }: Pick<Basics, 'digest'>,
  agent: string,
  capability: string,
  args: Readonly<Record<string, unknown>>,
): string => digest.sha256(digest.canonical({ agent, capability, arguments: args }))
