import { z } from 'zod'
import { defineCapability } from '../../src/capabilities/define.ts'
import type { Capability } from '../../src/ports/capability.ts'

/** A capability that a person has to approve, with an argument that is not shown. */
export const closeTicket = ({
  purpose = 'Closes a ticket.',
  run = async (ticket) => ({ closed: ticket }),
}: {
  readonly purpose?: string
  readonly run?: (ticket: number) => Promise<{ closed: number }>
} = {}): Capability =>
  defineCapability({
    title: 'Close',
    name: 'tickets.close',
    version: '1.0',
    purpose,
    when_to_use: 'In this test.',
    inputs: z.strictObject({ ticket: z.int(), secret: z.string().default('') }),
    outputs: z.object({ closed: z.int() }),
    tier: 'approval_required',
    effect: 'immediate',
    errors: [],
    redact: ['secret'],
    text: ({ closed }) => `Closed ${closed}.`,
    run: (_context, { ticket }) => run(ticket),
  })
