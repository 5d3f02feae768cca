import { defineCommand } from '../define.ts'
import { escapeText } from '../escape-text.ts'
import { stepsTable } from '../policy-steps.ts'
import { readCallArguments } from '../read-call-arguments.ts'

const verdicts = { allow: 'runs at once', ask: 'waits for a person', deny: 'is blocked' } as const

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
    const given = await readCallArguments(args ?? '{}', io)
    return api.testPolicy({ agent, capability, arguments: given, at })
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
      stepsTable(steps, view),
    ].join('\n')
  },
})
