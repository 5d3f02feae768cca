import type { CapabilityContext } from '../ports/capability.ts'
import type { CopyOptions, Fingerprint } from '../ports/files.ts'

type Resolved = Pick<CapabilityContext, 'resolved'>

/** Print of a file that a person agreed to see changed; null where nobody had to. */
export const boundFile = ({ resolved }: Resolved, name: string): Fingerprint | null =>
  (resolved?.[name] ?? null) as Fingerprint | null

/** The same for both ends of a copy or move. */
export const boundEnds = ({ resolved }: Resolved): CopyOptions['bound'] =>
  resolved as CopyOptions['bound']
