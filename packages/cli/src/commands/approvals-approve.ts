import type { ApproveBody } from '@gatehouse/contract'
import type { Client } from '@gatehouse/rest-client'
import { approvalCard } from '../approval-card.ts'
import { usageError } from '../cli-error.ts'
import { allDecided, outcomesText } from '../decide-many.ts'
import { defineCommand } from '../define.ts'
import { jsonText } from '../escape-text.ts'
import { exitCodes } from '../exit-codes.ts'
import { followRuns } from '../follow-runs.ts'
import { readJsonObject } from '../read-json-object.ts'
import { decidedText, outcomeText } from '../run-outcome.ts'
import { secondsOf } from '../times.ts'

type Given = {
  readonly digest: string | undefined
  readonly remember: string | undefined
  readonly for: 'same_arguments' | 'same_capability' | undefined
  readonly uses: number | undefined
  readonly arguments: string | undefined
}

const rememberOf = ({ remember, for: match, uses }: Given): Pick<ApproveBody, 'remember'> => {
  if (remember === undefined) {
    if (match !== undefined || uses !== undefined)
      throw usageError('--for and --uses say what --remember means: add --remember 1h.')
    return {}
  }
  const ttl_seconds = secondsOf(remember)
  if (ttl_seconds === null || ttl_seconds < 1 || ttl_seconds > 86_400)
    throw usageError(`--remember is a time such as 30m or 8h, at most 24h, not "${remember}".`)
  const limit = uses === undefined ? {} : { uses }
  return { remember: { ttl_seconds, match: match ?? 'same_arguments', ...limit } }
}

const changesOf = ({ arguments: text }: Given): Pick<ApproveBody, 'arguments'> => {
  if (text === undefined) return {}
  const complaint = '--arguments is a JSON object: all arguments, as they are to run.'
  return { arguments: readJsonObject(text, complaint) }
}

const oneOnly = (given: Given): void => {
  const { digest, remember, arguments: changed } = given
  if (digest !== undefined || remember !== undefined || changed !== undefined)
    throw usageError('--digest, --remember and --arguments are for one approval at a time.')
}

const shownAll = (api: Client, ids: readonly string[]) =>
  Promise.all(ids.map((id) => api.showApproval({ id })))

export const approvalsApprove = defineCommand({
  name: 'approvals approve',
  summary: 'Show a request, and approve it',
  args: { id: { about: 'the approval, or several', many: true } },
  options: {
    reason: { value: 'TEXT', about: 'why, for the log' },
    digest: { value: 'DIGEST', about: 'approve only if the request has this digest' },
    remember: { value: 'TIME', about: 'run later calls without asking for this long, such as 1h' },
    for: {
      value: 'CALLS',
      choices: ['same_arguments', 'same_capability'],
      about: 'which later calls run without asking',
    },
    uses: { value: 'N', integer: true, about: 'at most this many later calls' },
    wait: { value: 'SECONDS', integer: true, about: 'how long to wait for the result (10)' },
    arguments: { value: 'JSON', about: 'run the call with these arguments instead' },
  },
  examples: [
    'gatehouse approvals approve appr-01jqz4xk2m8v5w9r3t6y0b7n1c',
    'gatehouse approvals approve appr-01jqz4xk2m8v5w9r3t6y0b7n1c --yes --reason "as agreed"',
    'gatehouse approvals approve appr-01jqz4xk2m8v5w9r3t6y0b7n1c --remember 1h --uses 5',
  ],
  async look({ api, note, json, views }, { id: ids, ...given }) {
    const more = { ...rememberOf(given), ...changesOf(given) }
    if (ids.length > 1) oneOnly(given)
    const shown = await shownAll(api, ids)
    if (!json) for (const approval of shown) await note(`${approvalCard(approval, views.stderr)}\n`)
    if (more.arguments && !json) await note(`The call will run with\n${jsonText(more.arguments)}\n`)
    return { shown, more }
  },
  question(_input, { shown, more }) {
    if (!shown.some(({ status }) => status === 'pending')) return null
    if (shown.length > 1) return `Approve and run exactly these ${shown.length}?`
    return more.arguments
      ? 'Approve and run it with these arguments?'
      : 'Approve and run exactly this?'
  },
  // The ids name what is approved, and its digest binds the decision to what was just read.
  goesOnUnasked: true,
  async run(context, { id: ids, reason, wait, ...given }, { shown, more }) {
    const { api } = context
    const because = reason === undefined ? {} : { reason }
    // The digest that was shown is sent: anything else that stands there now is a conflict.
    const [first, ...others] = shown
    if (first && others.length === 0) {
      const digest = given.digest ?? first.digest
      const approved = await api.approveApproval({ id: first.id, digest, ...because, ...more })
      const [ended = approved] = await followRuns(context, [approved], wait)
      return ended
    }
    const digests = Object.fromEntries(shown.map(({ id, digest }) => [id, digest]))
    const { outcomes } = await api.decideApprovals({
      ids,
      decision: 'approve',
      digests,
      ...because,
    })
    const decided = outcomes.flatMap(({ outcome, approval }) =>
      outcome === 'decided' && approval ? [approval] : [],
    )
    const ended = new Map((await followRuns(context, decided, wait)).map((run) => [run.id, run]))
    return {
      outcomes: outcomes.map((outcome) => {
        const run = outcome.approval && ended.get(outcome.approval.id)
        return run ? { ...outcome, approval: run } : outcome
      }),
    }
  },
  text: (result) =>
    'outcomes' in result
      ? outcomesText(result)
      : [decidedText(result), outcomeText(result)].join('\n'),
  exitCode: (result) =>
    'outcomes' in result && !allDecided(result) ? exitCodes.failed : exitCodes.done,
})
