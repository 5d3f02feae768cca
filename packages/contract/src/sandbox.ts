import { z } from 'zod'

/** How strongly programs are kept, strongest first; `none`: no way holds, so nothing runs. */
export const Rung = z.enum(['bubblewrap', 'landlock', 'unconfined', 'none'])
export type Rung = z.infer<typeof Rung>

/** What trying the sandbox with a real program found. */
export const SandboxReport = z.object({
  usable: z.boolean(),
  rung: Rung,
  /** What holds, or why nothing does. */
  detail: z.string(),
  /** What an operator does about it; null where nothing need be done. */
  remedy: z.string().nullable(),
})
export type SandboxReport = z.infer<typeof SandboxReport>
