import type { AgentService, AgentServices } from '../../ports/agent-services.ts'
import type { CapabilityContext, PreviewContext } from '../../ports/capability.ts'
import type { Files } from '../../ports/files.ts'
import { readAttachments } from './attach.ts'
import { openMailbox } from './mailbox.ts'
import { assertLetter, type Letter, letterBinding, letterPreview, outgoingOf } from './outgoing.ts'

type Reach = { readonly files: Files; readonly services: AgentServices }
type Maker<A> = (service: AgentService, files: Files, args: A) => Promise<Letter>

type Written = Pick<Letter, 'to' | 'cc' | 'bcc' | 'subject'> & {
  readonly body: string
  readonly html?: string | undefined
  readonly attachments: readonly string[]
}

/** A mail that answers nothing and passes nothing on. */
export const newLetter: Maker<Written> = async (_service, files, args) => {
  const { to, cc, bcc, subject, body, html = null, attachments } = args
  const read = await readAttachments(files, attachments)
  const alone = { in_reply_to: null, references: [], original: null }
  return { to, cc, bcc, subject, text: body, html, files: read, ...alone }
}

/** The three faces of a capability that writes a mail: shown, bound and buffered from the same letter. */
export const letterWriter = <A extends { readonly service?: string | undefined }>(
  operation: 'send' | 'reply' | 'forward' | 'draft',
  make: Maker<A>,
) => {
  const write = async ({ files, services }: Reach, args: A) => {
    const service = await openMailbox(services, args.service)
    const letter = await make(service, files, args)
    return { service, letter: assertLetter(letter, { recipientsNeeded: operation !== 'draft' }) }
  }
  return {
    async preview(args: A, ctx: PreviewContext) {
      const { service, letter } = await write(ctx, args)
      return letterPreview(service, letter)
    },
    async resolve(args: A, ctx: PreviewContext) {
      const { service, letter } = await write(ctx, args)
      return letterBinding(service, letter)
    },
    async buffer(ctx: CapabilityContext, args: A) {
      const { service, letter } = await write(ctx, args)
      const mail = outgoingOf(service, letter, ctx.clock.wall())
      const ticket = await service.buffer({ operation, arguments: mail, files: letter.files })
      const { write_id, status, execute_at, undo_until, undo_note } = ticket
      return {
        ...{ write_id, status, execute_at, undo_until, undo_note },
        to: [...letter.to],
        cc: [...letter.cc],
        bcc: [...letter.bcc],
        subject: letter.subject,
        attachments: (mail['attachments'] as readonly unknown[]).length,
      }
    },
  }
}
