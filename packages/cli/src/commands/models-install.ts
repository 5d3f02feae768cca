import { setTimeout as pause } from 'node:timers/promises'
import type { ModelJob } from '@gatehouse/contract'
import type { Context } from '../define.ts'
import { defineCommand } from '../define.ts'
import { escapeLines } from '../escape-text.ts'
import { exitCodes } from '../exit-codes.ts'
import { fitLine, progressLine, shownBytes } from '../model-text.ts'
import type { NextStep } from '../next-step.ts'

const lookEveryMs = 500

const isOver = ({ status }: ModelJob): boolean => status !== 'waiting' && status !== 'running'

/** On a terminal one line that is written over; elsewhere a line for each tenth. */
async function follow({ api, io, json, quiet }: Context, first: ModelJob): Promise<ModelJob> {
  const { stderr, signal } = io
  const width = Math.max(20, stderr.columns - 1)
  const rewrites = stderr.isTTY && !json
  let [job, told] = [first, -1]
  for (;;) {
    const line = progressLine(job)
    const step = Math.floor(job.percent / 10)
    if (!quiet && rewrites) await stderr.write(`\r\x1b[K${line.slice(0, width)}`)
    else if (!quiet && step > told) await stderr.write(`${line}\n`)
    told = step
    if (isOver(job)) break
    await pause(lookEveryMs, undefined, { signal }).catch(() => undefined)
    if (signal.aborted) break
    job = await api.showJob({ id: job.id })
  }
  if (!quiet && rewrites) await stderr.write('\r\x1b[K')
  return job
}

const endText = (job: ModelJob, next: NextStep): string => {
  const { model_id, status, error } = job
  if (status === 'done')
    return [
      `${model_id} is installed: ${shownBytes(job.total_bytes)}, and its hash is the one that was reviewed.`,
      ...(job.fit ? [`Memory: ${fitLine(job.fit)}.`] : []),
      `Make it the one used by default: ${next(`models default ${model_id}`)}`,
    ].join('\n')
  if (status === 'failed') return `${model_id} is not installed. ${error?.message ?? ''}`.trim()
  if (status === 'cancelled') return `The installation of ${model_id} was cancelled.`
  return `The installation of ${model_id} goes on as long as the server runs: ${progressLine(job)}`
}

export const modelsInstall = defineCommand({
  name: 'models install',
  summary: 'Download, verify and install a model; continues a download that stopped',
  args: { id: 'the model' },
  options: { detach: { about: 'return at once; the server continues' } },
  examples: [
    'gatehouse models install qwen2.5-0.5b-instruct-q4_k_m',
    'gatehouse models install qwen2.5-0.5b-instruct-q4_k_m --detach --json',
  ],
  async run(context, { id, detach }) {
    // Without a server this process is the one that fetches, so it must stay.
    if (detach) await context.server()
    const job = await context.api.installModel({ id })
    return detach ? job : follow(context, job)
  },
  text: (job, { next }) => escapeLines(endText(job, next)),
  exitCode: ({ status }) =>
    status === 'failed' || status === 'cancelled' ? exitCodes.failed : exitCodes.done,
})
