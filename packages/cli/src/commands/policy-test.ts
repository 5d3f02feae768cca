import { usageError } from '../cli-error.ts'
import { defineCommand } from '../define.ts'
import { escapeText } from '../escape-text.ts'
import { readInputFile } from '../read-input-file.ts'
import { renderTable } from '../table.ts'

const verdicts = { allow: 'runs at once', ask: 'waits for a person', deny: 'is blocked' } as const

function parseArguments(text: string): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    value = undefined
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>
  throw usageError('--args is a JSON object, such as \'{"path":"notes.txt"}\'.')
}

export const policyTest = defineCommand({
  name: 'policy test',
  summary: 'Show how policy would decide a call, and by which rule',
  args: { agent: 'the agent that calls', capability: 'the capability' },
  options: {
    args: { value: 'JSON', about: 'the arguments of the call, or - for the input ({})' },
    at: { value: 'TIME', about: 'decide as at this time: ISO 8601' },
  },
  examples: [
    'gatehouse policy test mailbot email.send',
    'gatehouse policy test coder filesystem.delete --args \'{"path":"/srv/scratch/a"}\'',
  ],
  async run({ api, io }, { agent, capability, args, at }) {
    const text = args === '-' ? await readInputFile('-', io) : (args ?? '{}')
    return api.testPolicy({ agent, capability, arguments: parseArguments(text), at })
  },
  text({ decision, steps }, view) {
    const { kind, rule, reason, notify, network } = decision
    const by = rule ? `${rule.file}:${rule.line} (${rule.layer}, ${rule.match})` : 'no rule'
    const because = reason ? `: ${escapeText(reason)}` : ''
    return [
      `The call ${verdicts[kind]}${notify ? ', and operators are told' : ''}.`,
      `By ${escapeText(by)}${because}`,
      ...(network ? [`A program may reach ${network.map(escapeText).join(', ')}`] : []),
      '',
      renderTable(
        [
          { title: 'RULE', value: (step) => `${step.rule.file}:${step.rule.line}` },
          { title: 'MATCH', value: (step) => step.rule.match },
          { title: 'OUTCOME', value: (step) => step.outcome },
          { title: 'DETAIL', value: (step) => step.detail ?? '', cut: true },
        ],
        steps,
        view,
      ),
    ].join('\n')
  },
})
