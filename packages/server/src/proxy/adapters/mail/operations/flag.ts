import type { ImapFlow } from 'imapflow'
import { z } from 'zod'
import type { ReplicaChange } from '../../../../ports/replica.ts'
import type {
  Capture,
  ServiceOperation,
  ServiceWrite,
  UndoOutcome,
  UndoPlan,
  UndoPoint,
  WriteOutcome,
  WriteProof,
} from '../../../../ports/service-adapter.ts'
import { type Looked, lookAtMessages, sameFlags } from '../look-at-messages.ts'
import type { MailAccount } from '../mail-account.ts'
import { refreshEntries } from '../refresh-entries.ts'
import { formatUids } from '../uid-set.ts'
import { failedAt, never, reasonOf } from './failures.ts'
import {
  byFolder,
  type Captured,
  captured,
  captureTargets,
  openFolder,
  shownTarget,
} from './targets.ts'

const flag = z.string().regex(/^(\\(Seen|Flagged|Answered)|[$A-Za-z0-9_-]{1,64})$/)
const change = z.object({ add: z.array(flag).max(32), remove: z.array(flag).max(32) })
const before = z.object({ messages: z.array(captured) })

const parseCaptured = ({ before: kept }: Capture): Captured[] => before.parse(kept).messages

const lower = (list: readonly string[]): Set<string> =>
  new Set(list.map((one) => one.toLowerCase()))

/** Flags of a message after the change; servers keep the case in which they first saw a keyword. */
const after = (flags: readonly string[], { add, remove }: z.output<typeof change>): string[] => {
  const out = lower(remove)
  const has = lower(flags)
  return [
    ...flags.filter((one) => !out.has(one.toLowerCase())),
    ...add.filter((one) => !has.has(one.toLowerCase())),
  ]
}

const alike = (a: readonly string[], b: readonly string[]): boolean =>
  sameFlags([...lower(a)], [...lower(b)])

type Standing = { readonly was: Captured; readonly now: Looked | null }

/** How the captured messages stand now, folder by folder; each folder is left open for `work`. */
const visit = async (
  client: ImapFlow,
  messages: readonly Captured[],
  work: (standing: readonly Standing[]) => Promise<void>,
  { readOnly }: { readonly readOnly: boolean },
): Promise<void> => {
  for (const [folder, list] of byFolder(messages)) {
    const opened = await openFolder(client, folder, { readOnly })
    const same = opened !== null && opened.uidvalidity === list[0]?.uidvalidity
    const found = same
      ? await lookAtMessages(
          client,
          list.map(({ uid }) => uid),
        )
      : []
    await work(
      list.map((was) => ({
        was,
        now:
          found.find((one) => one.uid === was.uid && one.fingerprint === was.fingerprint) ?? null,
      })),
    )
  }
}

const standings = async (client: ImapFlow, messages: readonly Captured[]): Promise<Standing[]> => {
  const all: Standing[] = []
  await visit(client, messages, async (some) => void all.push(...some), { readOnly: true })
  return all
}

const execute = async (
  account: MailAccount,
  write: ServiceWrite,
  capture: Capture,
  signal: AbortSignal,
): Promise<WriteOutcome> => {
  const wanted = change.parse(write.arguments)
  const messages = parseCaptured(capture)
  let touched = false
  try {
    return await account.imap('use', signal, async (client): Promise<WriteOutcome> => {
      const changes: ReplicaChange[] = []
      const store = async (standing: readonly Standing[]) => {
        const uids = standing.flatMap(({ now }) => (now ? [now.uid] : []))
        if (uids.length === 0) return
        touched = true
        const range = formatUids(uids)
        if (wanted.add.length > 0) await client.messageFlagsAdd(range, wanted.add, { uid: true })
        if (wanted.remove.length > 0)
          await client.messageFlagsRemove(range, wanted.remove, { uid: true })
        changes.push(...(await refreshEntries(account, client, uids)))
      }
      await visit(client, messages, store, { readOnly: false })
      const stand = await standings(client, messages)
      const left = stand.filter(
        ({ was, now }) => now && !alike(now.flags, after(was.flags, wanted)),
      )
      if (left.length > 0 && left.every(({ was, now }) => now && alike(was.flags, now.flags)))
        return never('the server does not keep these flags')
      if (left.length > 0)
        return { kind: 'unknown', reason: { detail: 'not all messages have the flags now' } }
      return {
        kind: 'executed',
        result: { flagged: stand.filter(({ now }) => now).length },
        changes,
      }
    })
  } catch (error) {
    return failedAt(error, touched)
  }
}

/** Setting flags twice is setting them once, so what is only half done may be sent again. */
const prove = async (
  account: MailAccount,
  write: ServiceWrite,
  capture: Capture,
  signal: AbortSignal,
): Promise<WriteProof> => {
  const wanted = change.parse(write.arguments)
  const stand = await account.imap('use', signal, (client) =>
    standings(client, parseCaptured(capture)),
  )
  const here = stand.filter(({ now }) => now !== null)
  if (here.length === 0)
    return { kind: 'unknown', reason: { detail: 'the messages are not where they were' } }
  return here.every(({ was, now }) => alike(now?.flags ?? [], after(was.flags, wanted)))
    ? { kind: 'executed', result: { flagged: here.length } }
    : { kind: 'not_executed' }
}

const differencesIn = (
  stand: readonly Standing[],
  wanted: z.output<typeof change>,
): readonly string[] =>
  stand.flatMap(({ was, now }) => {
    if (!now) return [`${shownTarget(was)} is not in ${was.folder} any more`]
    if (alike(now.flags, was.flags) || alike(now.flags, after(was.flags, wanted))) return []
    return [
      `${shownTarget(was)} has the flags ${now.flags.join(' ') || '(none)'}, and not ${after(was.flags, wanted).join(' ') || '(none)'}`,
    ]
  })

const planOf = (stand: readonly Standing[], point: UndoPoint): UndoPlan => {
  const differences = differencesIn(stand, change.parse(point.write.arguments))
  if (differences.length > 0)
    return {
      kind: 'refused',
      reason: { detail: 'flags were changed since, or messages moved' },
      differences,
    }
  const steps = stand
    .filter(({ was, now }) => now && !alike(now.flags, was.flags))
    .map(({ was }) => `give ${shownTarget(was)} the flags ${was.flags.join(' ') || '(none)'}`)
  return { kind: 'possible', steps: steps.length > 0 ? steps : ['nothing: all is as it was'] }
}

const undo = async (
  account: MailAccount,
  point: UndoPoint,
  signal: AbortSignal,
): Promise<UndoOutcome> => {
  const messages = parseCaptured(point.capture)
  try {
    return await account.imap('use', signal, async (client): Promise<UndoOutcome> => {
      const plan = planOf(await standings(client, messages), point)
      if (plan.kind === 'refused') return plan
      const changes: ReplicaChange[] = []
      const restore = async (standing: readonly Standing[]) => {
        for (const { was, now } of standing)
          if (now && !alike(now.flags, was.flags))
            await client.messageFlagsSet(`${now.uid}`, [...was.flags], {
              uid: true,
              // A flag may be changed at this very moment: then nothing is set.
              ...(now.modseq === null ? {} : { unchangedSince: now.modseq }),
            })
        const uids = standing.flatMap(({ now }) => (now ? [now.uid] : []))
        changes.push(...(await refreshEntries(account, client, uids)))
      }
      await visit(client, messages, restore, { readOnly: false })
      const left = (await standings(client, messages)).filter(
        ({ was, now }) => !now || !alike(now.flags, was.flags),
      )
      return left.length === 0
        ? { kind: 'undone', result: { restored: messages.length }, changes }
        : { kind: 'not_undone', reason: { detail: 'not all flags are as they were yet' } }
    })
  } catch (error) {
    return { kind: 'not_undone', reason: reasonOf(error) }
  }
}

/** Marks messages as read, starred, or with a keyword; undoing gives each exactly the flags it had. */
export const flagOperation: ServiceOperation<MailAccount> = {
  name: 'flag',
  delay_seconds: 5,
  timeout_seconds: 60,
  undoable: true,
  undo_note: 'Every message gets exactly the flags back that it had, unless somebody changed them.',
  redact: [],
  async capture(account, write, signal) {
    change.parse(write.arguments)
    const found = await account.imap('use', signal, (client) =>
      captureTargets(client, write.arguments['messages'] ?? null, { follows: true }),
    )
    return found.kind === 'refused'
      ? found
      : { before: { messages: found.messages }, expected: null }
  },
  execute,
  prove,
  async planUndo(account, point, signal) {
    const messages = parseCaptured(point.capture)
    return planOf(await account.imap('use', signal, (client) => standings(client, messages)), point)
  },
  undo,
}
