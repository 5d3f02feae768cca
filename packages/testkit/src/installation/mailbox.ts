import { defineCapability } from '@gatehouse/server/capabilities/define'
import type { JsonObject } from '@gatehouse/server/ports/json'
import { z } from 'zod'

const place = z.strictObject({ collection: z.string().default('INBOX'), id: z.string() })

const buffering = (operation: 'blind' | 'put', inputs: z.ZodObject) =>
  defineCapability({
    title: 'Test',
    name: `mailbox.${operation}`,
    version: '1.0',
    purpose: `Try ${operation}.`,
    when_to_use: 'In tests.',
    inputs,
    outputs: z.looseObject({ write_id: z.string() }),
    tier: 'autonomous',
    effect: 'buffered',
    side_effects: [{ what: 'a change at the service', reversible: false }],
    errors: [],
    async run(ctx, args) {
      const service = await ctx.services.open('mail')
      return { ...(await service.buffer({ operation, arguments: args as JsonObject })) }
    },
  })

/** Writes beside those of `email.*`: one that can be undone, and one of which nobody can say whether it took place. */
export const mailboxCapabilities = [
  buffering('put', place.extend({ value: z.string() })),
  buffering('blind', z.strictObject({ text: z.string() })),
]
