import { z } from 'zod'
import { defineCapability } from '../../src/capabilities/define.ts'

/** A capability that is critical: it runs as it was shown or not at all. */
export const transfer = defineCapability({
  title: 'Transfer',
  name: 'bank.transfer',
  version: '1.0',
  purpose: 'Send money.',
  when_to_use: 'When money is to be sent.',
  inputs: z.strictObject({ amount: z.number() }),
  outputs: z.object({ sent: z.boolean() }),
  tier: 'approval_required',
  critical: true,
  effect: 'immediate',
  side_effects: [{ what: 'money leaves', reversible: false }],
  errors: [],
  run: async () => ({ sent: true }),
})
