import { usageError } from '../cli-error.ts'
import { defineCommand } from '../define.ts'

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown
  } catch {
    throw usageError(`The value is not JSON. For a text write '"…"' with the quotes.`)
  }
}

export const stateSet = defineCommand({
  name: 'state set',
  summary: 'Store a JSON value under a state key',
  args: { agent: 'the agent, or shared', key: 'the key', value: 'JSON, or - to read it' },
  options: {
    'expected-version': {
      value: 'N',
      integer: true,
      about: 'only if the key has this version; 0: only if it is new',
    },
    ttl: { value: 'SECONDS', integer: true, about: 'delete the key after this long' },
  },
  examples: [
    `gatehouse state set mailbot progress '{"done": 12}'`,
    'gatehouse state set shared build/status - --expected-version 3 <status.json',
  ],
  async run({ api, io }, { agent, key, value, 'expected-version': expected_version, ttl }) {
    return api.setState({
      agent,
      key,
      value: parsed(value === '-' ? await io.stdin.readAll() : value),
      expected_version,
      ttl_seconds: ttl,
    })
  },
  text: ({ agent, key, version }) => `${key} of ${agent} is at version ${version}.`,
})
