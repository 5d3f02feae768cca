import type { ActivityEvent } from '@gatehouse/contract'
import { defineCommand } from '../define.ts'
import { escapeText, jsonText } from '../escape-text.ts'
import { streamAgain } from '../stream-again.ts'

/** One event on one line: when, who, what, how it ended. */
const lineOf = (event: ActivityEvent): string => {
  const { timestamp, type, agent, capability, object, actor, error, approval_id } = event
  const what = [
    type === 'capability_invoked' ? '' : type,
    capability,
    object === approval_id ? '' : object,
    approval_id ?? '',
  ]
    .filter((part) => part !== '')
    .join(' ')
  const ended = error ? `${event.result} (${error})` : event.result
  const took = type === 'capability_invoked' ? ` ${event.duration_ms} ms` : ''
  return `${timestamp.slice(11, 23)} ${agent || actor} ${what} ${ended}${took}`
}

export const watch = defineCommand({
  name: 'watch',
  summary: 'Show what happens, as it happens',
  options: {
    agent: { value: 'NAME', about: 'of one agent only' },
    after: { value: 'PLACE', about: 'go on from a place that --json printed' },
  },
  examples: ['gatehouse watch', 'gatehouse watch --agent mailbot --json'],
  async run({ api, io, json, note, server }, { agent, after }) {
    await server()
    let place = after
    const open = () =>
      api.streamActivity(io.signal, {
        ...(agent === undefined ? {} : { agent }),
        ...(place === undefined ? {} : { after: place }),
      })
    for await (const { name, data, id } of streamAgain(open, io.signal, () =>
      note('Connecting again …'),
    )) {
      place = id ?? place
      if (name !== 'activity') continue
      const event = data as ActivityEvent
      const line = json ? jsonText({ ...event, place }, 0) : escapeText(lineOf(event))
      await io.stdout.write(`${line}\n`)
    }
  },
})
