import type { Client } from '@gatehouse/client'
import type { Approval } from '@gatehouse/contract'
import { approvalCard, approvalLine } from '../approval-card.ts'
import { type Context, defineCommand } from '../define.ts'
import { escapeText, jsonText } from '../escape-text.ts'
import { eventsAgain } from '../events-again.ts'
import { toFailure } from '../failure.ts'
import { emptyWatch, onApproval, onKey, onSnapshot, type WatchStep } from '../watch-state.ts'

type Snapshot = { readonly approvals: readonly Approval[] }

const keysHelp = '[a] approve  [r] reject  [n] next  [q] quit'

async function decide(api: Client, { approval, decision }: NonNullable<WatchStep['decide']>) {
  const { id, digest } = approval
  if (decision === 'approve') await api.approveApproval({ id, digest })
  else await api.rejectApproval({ id })
}

/** Cards and keys, on a terminal. */
async function watchWithKeys(context: Context, nowMs: () => number): Promise<void> {
  const { api, io } = context
  const ended = new AbortController()
  const signal = AbortSignal.any([io.signal, ended.signal])
  let state = emptyWatch
  const say = (text: string) => io.stderr.write(`${escapeText(text)}\n`)
  const take = async (step: WatchStep) => {
    state = step.state
    for (const line of step.say?.split('\n') ?? []) await say(line)
    if (step.show) await io.stdout.write(`\n${approvalCard(step.show)}\n\n${keysHelp}\n`)
    if (step.end) ended.abort()
    if (!step.decide) return
    await decide(api, step.decide).catch((error: unknown) => say(toFailure(error).message))
  }
  const listen = async () => {
    for await (const { name, data } of eventsAgain(api, signal, () => say('Connecting again …'))) {
      if (name === 'snapshot') await take(onSnapshot(state, (data as Snapshot).approvals, nowMs()))
      if (name === 'approval') await take(onApproval(state, data as Approval, nowMs()))
    }
  }
  const press = async () => {
    for await (const key of io.stdin.keys(signal)) await take(onKey(state, key, nowMs()))
  }
  try {
    await Promise.all([listen().finally(() => ended.abort()), press()])
  } finally {
    ended.abort()
  }
}

/** One line for each approval as it comes or changes. */
async function watchLines({ api, io, json, note }: Context): Promise<void> {
  const print = (approval: Approval) =>
    io.stdout.write(`${json ? jsonText(approval, 0) : approvalLine(approval)}\n`)
  for await (const { name, data } of eventsAgain(api, io.signal, () =>
    note('Connecting again …'),
  )) {
    if (name === 'snapshot')
      for (const approval of (data as Snapshot).approvals) await print(approval)
    if (name === 'approval') await print(data as Approval)
  }
}

export const approvalsWatch = defineCommand({
  name: 'approvals watch',
  summary: 'Show requests as they come, and decide them by a key',
  examples: ['gatehouse approvals watch', 'gatehouse approvals watch --json'],
  async run(context) {
    await context.server()
    const { io, json } = context
    if (!json && io.stdin.isTTY && io.stdout.isTTY)
      await watchWithKeys(context, () => performance.now())
    else await watchLines(context)
  },
})
