import type { ActivityEvent } from '@gatehouse/contract'
import { paintStatus } from '../colour.ts'
import { defineCommand } from '../define.ts'
import { escapeText, jsonText } from '../escape-text.ts'
import { streamAgain } from '../stream-again.ts'
import { shownClock } from '../times.ts'

/** One event on one line: when, who, what, how it ended. */
const lineOf = (event: ActivityEvent, coloured: boolean): string => {
  const { timestamp, type, agent, capability, object, actor, error, approval_id } = event
  const what = [
    type === 'capability_invoked' ? '' : type,
    capability,
    object === approval_id ? '' : object,
    approval_id ?? '',
  ]
    .filter((part) => part !== '')
    .join(' ')
  const result = paintStatus(escapeText(event.result), coloured)
  const why = error ? ` (${escapeText(error)})` : ''
  const took = type === 'capability_invoked' ? ` ${event.duration_ms} ms` : ''
  const call = escapeText(`${agent || actor} ${what}`)
  return `${shownClock(timestamp)} ${call} ${result}${why}${took}`
}

export const watch = defineCommand({
  name: 'watch',
  summary: 'Show calls and events as they happen',
  options: {
    agent: { value: 'NAME', about: 'only this agent' },
    after: { value: 'PLACE', about: 'continue from a place that --json printed' },
  },
  examples: ['gatehouse watch', 'gatehouse watch --agent mailbot --json'],
  async run({ api, io, json, note, server, views }, { agent, after }) {
    await server()
    let place = after
    const open = () =>
      api.streamActivity(io.signal, {
        agent,
        after: place,
      })
    for await (const { name, data, id } of streamAgain(open, io.signal, () =>
      note('Connecting again …'),
    )) {
      place = id ?? place
      if (name !== 'activity') continue
      const event = data as ActivityEvent
      const line = json ? jsonText({ ...event, place }, 0) : lineOf(event, views.stdout.coloured)
      await io.stdout.write(`${line}\n`)
    }
  },
})
