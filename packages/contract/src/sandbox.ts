import { z } from 'zod'

/** How strongly programs are kept, strongest first; `none`: no way holds, so nothing runs. */
export const Rung = z.enum(['bubblewrap', 'landlock', 'unconfined', 'none'])
export type Rung = z.infer<typeof Rung>

/** Result of trying the sandbox with a real program. */
export const SandboxReport = z.object({
  usable: z.boolean(),
  rung: Rung,
  /** Protection that works, or the reason why none does. */
  detail: z.string(),
  /** Remedy for an operator; null where nothing need be done. */
  remedy: z.string().nullable(),
})
export type SandboxReport = z.infer<typeof SandboxReport>
