import { z } from 'zod'

/** How strongly programs are kept, strongest first; `none`: no backend works, so nothing runs. */
export const SandboxBackend = z.enum(['bubblewrap', 'landlock', 'unconfined', 'none'])
export type SandboxBackend = z.infer<typeof SandboxBackend>

/** Result of trying the sandbox with a real program. */
export const SandboxReport = z.object({
  usable: z.boolean(),
  backend: SandboxBackend,
  /** Protection that works, or the reason why none does. */
  detail: z.string(),
  /** Remedy for an operator; null where nothing need be done. */
  remedy: z.string().nullable(),
})
export type SandboxReport = z.infer<typeof SandboxReport>
