import { type Field, flagOf } from '@gatehouse/server/config/field'
import { fields } from '@gatehouse/server/config/fields'
import { defineCommand, type OptionSpec } from '../define.ts'
import { serveMessage } from '../serve-message.ts'

/** Beside the bundle of the command, which this is a part of. */
const gateProgram = new URL('../bundle/gate-main.js', import.meta.url)

const nameOf = (field: Field): string => flagOf(field).slice(2)

const optionOf = (field: Field): OptionSpec => {
  if (field.negated) return { about: field.negated }
  const [about] = field.description.split(/(?<=\.) /)
  return {
    about: about ?? '',
    value: field.type === 'list' ? 'A,B' : field.type.toUpperCase(),
    ...(field.choices ? { choices: field.choices } : {}),
  }
}

/** Every setting is a flag; which there are is written down once, with the server. */
const options: Readonly<Record<string, OptionSpec>> = Object.fromEntries(
  (fields as readonly Field[]).map((field) => [nameOf(field), optionOf(field)]),
)

export const serve = defineCommand({
  name: 'serve',
  summary: 'Start the server and keep it running',
  options,
  examples: [
    'gatehouse serve',
    'gatehouse serve --data-dir /srv/gatehouse --gateway-port 7710',
    'gatehouse serve --json > run.json',
  ],
  async run({ io, json, quiet, next }, given) {
    const flags: Record<string, string | boolean> = {}
    for (const name of Object.keys(options)) {
      const value = (given as Record<string, string | boolean | undefined>)[name]
      if (value !== undefined && value !== false) flags[name] = value
    }
    const { holdYoungSpace } = await import('@gatehouse/server/platform/young-space')
    const letYoungSpaceGrow = holdYoungSpace()
    const { serve: start } = await import('@gatehouse/server/main')
    const code = await start({
      flags,
      gateProgram,
      onReady: (started) => {
        letYoungSpaceGrow()
        const { run, firstAgentToken, setupLink } = started
        const token = {
          ...(firstAgentToken === null ? {} : { first_agent_token: firstAgentToken }),
          ...(setupLink === null ? {} : { setup_link: setupLink }),
        }
        const text = json
          ? JSON.stringify({ ...run, ...token })
          : serveMessage({ ...started, next })
        // A token that cannot be shown again is shown even to those who want quiet.
        if (!quiet || firstAgentToken !== null) void io.stdout.write(`${text}\n`)
      },
    })
    return { code }
  },
  text: () => '',
  exitCode: ({ code }) => code,
})
