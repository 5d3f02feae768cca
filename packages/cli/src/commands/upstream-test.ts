import { counted } from '../counted.ts'
import { defineCommand } from '../define.ts'
import { escapeText } from '../escape-text.ts'
import { refusedHostsText } from '../upstream-text.ts'

export const upstreamTest = defineCommand({
  name: 'upstream test',
  summary: 'Connect to a server now and show the result',
  args: { name: 'the server' },
  examples: ['gatehouse upstream test github'],
  async run({ api }, { name }) {
    const began = performance.now()
    const review = await api.refreshUpstream({ name })
    return { ...review, duration_ms: Math.round(performance.now() - began) }
  },
  text: (review, { next }) => {
    const { name, identity, waiting } = review.upstream
    const said = identity ? escapeText(`${identity.name} ${identity.version}`) : 'it'
    return [
      `${name} answers after ${review.duration_ms} ms: ${said}, ${counted(review.tools.length, 'tool')}.`,
      ...(waiting > 0
        ? [`${waiting} of them wait for a person: ${next(`upstream show ${name}`)}`]
        : []),
      ...refusedHostsText(review),
    ].join('\n')
  },
})
