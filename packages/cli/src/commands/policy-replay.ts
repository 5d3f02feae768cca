import type { PolicyReplayLine, ReplayedAgent } from '@gatehouse/contract'
import { UnexpectedAnswerError } from '@gatehouse/rest-client'
import { counted } from '../counted.ts'
import { type Context, defineCommand } from '../define.ts'
import { exitCodes } from '../exit-codes.ts'
import { readInputFile } from '../read-input-file.ts'
import { renderTable } from '../table.ts'

type Progress = Extract<PolicyReplayLine, { kind: 'progress' }>
type Result = Extract<PolicyReplayLine, { kind: 'result' }>

const clearLine = '\r\x1b[K'

/** On a terminal one line that is written over; elsewhere nothing, since it is soon over. */
async function showProgress({ io, json, quiet }: Context, progress: Progress): Promise<void> {
  if (quiet || json || !io.stderr.isTTY) return
  const { done, total } = progress
  const line = `${done} of ${counted(total, 'entry', 'entries')}`
  await io.stderr.write(`${clearLine}${done < total ? line : ''}`)
}

/** A line, from whatever listens at the address. */
function parseLine(line: string): PolicyReplayLine {
  let told: Partial<PolicyReplayLine> | null = null
  try {
    told = JSON.parse(line) as Partial<PolicyReplayLine> | null
  } catch {
    // Said below, as of everything else that is no line of a replay.
  }
  if (told?.kind === 'progress' || (told?.kind === 'result' && Array.isArray(told.agents)))
    return told as PolicyReplayLine
  throw new UnexpectedAnswerError('replayPolicy', 'a line of it is none of a replay.')
}

const rowsOf = ({ agent, changes }: ReplayedAgent) =>
  changes.map((change) => ({ agent, ...change }))

export const policyReplay = defineCommand({
  name: 'policy replay',
  summary: 'Show what a policy file would decide otherwise of the calls in the audit log',
  args: { file: 'the file, or - for the input' },
  options: {
    agent: { value: 'NAME', about: 'take it for the policy of this agent' },
    days: { value: 'N', integer: true, about: 'the calls of this many days (7, up to 90)' },
  },
  examples: [
    'gatehouse policy replay organisation.yaml',
    'gatehouse policy replay mailbot.yaml --agent mailbot --days 30',
  ],
  async run(context, { file, agent, days }): Promise<Result | { readonly kind: 'cancelled' }> {
    const { api, io } = context
    const text = await readInputFile(file, io)
    const lines = api.replayPolicy({
      draft: { text, ...(agent === undefined ? {} : { agent }) },
      ...(days === undefined ? {} : { days }),
    })
    for await (const line of lines) {
      if (io.signal.aborted) return { kind: 'cancelled' }
      const told = parseLine(line)
      if (told.kind === 'result') return told
      await showProgress(context, told)
    }
    throw new UnexpectedAnswerError('replayPolicy', 'it ended in the middle.')
  },
  text(replay, view) {
    if (replay.kind === 'cancelled') return 'The replay was cancelled.'
    const { calls, changed, cannot_say, agents } = replay
    const rows = agents.flatMap(rowsOf)
    return [
      ...(rows.length === 0
        ? []
        : [
            renderTable(
              [
                { title: 'AGENT', value: (row) => row.agent },
                { title: 'CAPABILITY', value: ({ capability }) => capability },
                { title: 'CALLS', value: (row) => String(row.calls) },
                { title: 'CHANGE', value: ({ from, to }) => `${from} -> ${to}` },
                { title: 'RULE', value: ({ rule }) => (rule ? `${rule.file}:${rule.line}` : '') },
              ],
              rows,
              view,
            ),
            '',
          ]),
      `${counted(calls, 'call')}: ${changed} decided otherwise.`,
      ...(cannot_say > 0
        ? [`Of ${counted(cannot_say, 'call')} the log does not hold what the decision hangs on.`]
        : []),
    ].join('\n')
  },
  exitCode: ({ kind }) => (kind === 'cancelled' ? exitCodes.failed : exitCodes.done),
})
