import { GatehouseError } from '@gatehouse/contract'
import { z } from 'zod'
import type { AgentServices } from '../../ports/agent-services.ts'
import { defineCapability } from '../define.ts'
import { findErrors, messageIdsField, serviceField, ticketFields, version } from './fields.ts'
import { foldersOf, openMailbox } from './mailbox.ts'
import { findMails, targetOf, targetsBinding, targetsPreview } from './targets.ts'

const inputs = z.strictObject({ message_ids: messageIdsField, service: serviceField })

const resolveDelete = async (services: AgentServices, args: z.output<typeof inputs>) => {
  const service = await openMailbox(services, args.service)
  const trash = (await foldersOf(service)).find(({ use }) => use === 'trash')
  if (!trash) throw new GatehouseError('MailRefused', { detail: 'the mailbox has no trash' })
  const found = await findMails(service, args.message_ids)
  const there = found.find((one) => one.folder === trash.path)
  if (there)
    throw new GatehouseError('MailRefused', {
      detail: `"${there.message.subject}" is in the trash already, from where only a person removes it`,
    })
  return { service, found }
}

export const deleteMail = defineCapability({
  name: 'email.delete',
  title: 'Delete mail',
  destructive: true,
  version,
  purpose: 'Move messages to the trash; can be undone.',
  when_to_use: 'To file mail use email.move. Nothing is ever removed for good.',
  inputs,
  outputs: z.object({ ...ticketFields, messages: z.int() }),
  tier: 'approval_required',
  effect: 'buffered',
  reach: 'open',
  side_effects: [{ what: 'messages lie in the trash', reversible: true }],
  common_patterns: [
    {
      title: 'Throw a message away',
      arguments: { message_ids: ['mail-0f3c5a7e9b1d2f4a6c8e0b1d-9d4e1f23-42'] },
    },
  ],
  errors: [...findErrors, 'MailRefused', 'QuotaExceeded'],
  async preview(args, ctx) {
    const { found } = await resolveDelete(ctx.services, args)
    return targetsPreview('move to the trash', found)
  },
  async resolve(args, ctx) {
    const { service, found } = await resolveDelete(ctx.services, args)
    return targetsBinding(service, found)
  },
  async run(ctx, args) {
    const { service, found } = await resolveDelete(ctx.services, args)
    const ticket = await service.buffer({
      operation: 'delete',
      arguments: { messages: found.map(targetOf) },
    })
    const { write_id, status, execute_at, undo_until, undo_note } = ticket
    return { write_id, status, execute_at, undo_until, undo_note, messages: found.length }
  },
})
