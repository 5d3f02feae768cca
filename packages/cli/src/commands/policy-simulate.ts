import { usageError } from '../cli-error.ts'
import { counted } from '../counted.ts'
import { defineCommand } from '../define.ts'
import { escapeText } from '../escape-text.ts'
import { problemLine } from '../policy-problems.ts'
import { simulationTable } from '../policy-simulation.ts'
import { stepsTable } from '../policy-steps.ts'
import { readCallArguments } from '../read-call-arguments.ts'
import { readInputFile } from '../read-input-file.ts'

export const policySimulate = defineCommand({
  name: 'policy simulate',
  summary: 'Show who could do what, by the active policy or by a draft',
  args: {
    capabilities: {
      about: 'capabilities, group.* or *; all unless given',
      many: true,
      optional: true,
    },
  },
  options: {
    agent: { value: 'NAMES', many: true, about: 'only these agents' },
    args: { value: 'JSON', about: 'the arguments of each call, or - for the input' },
    at: { value: 'TIME', about: 'decide as at this time: ISO 8601' },
    draft: { value: 'FILE', about: 'a policy file that is not active, or - for the input' },
    'draft-agent': { value: 'NAME', about: 'the draft is the policy of this agent' },
    changes: { about: 'only what the draft decides otherwise' },
    trace: { about: 'tell each rule that was looked at' },
  },
  examples: [
    'gatehouse policy simulate email.send',
    'gatehouse policy simulate filesystem.write --args \'{"path":"a.txt","content":""}\'',
    'gatehouse policy simulate --draft organisation.yaml --changes',
  ],
  async run({ api, io }, { capabilities, agent, args, at, draft, trace, changes, ...more }) {
    const of = more['draft-agent']
    if (draft === undefined && (of !== undefined || changes))
      throw usageError('--draft-agent and --changes are about a --draft.')
    const simulated = await api.simulatePolicy({
      ...(capabilities.length > 0 ? { capabilities } : {}),
      ...(agent === undefined ? {} : { agents: agent }),
      ...(args === undefined ? {} : { arguments: await readCallArguments(args, io) }),
      ...(at === undefined ? {} : { at }),
      ...(draft === undefined
        ? {}
        : {
            draft: {
              text: await readInputFile(draft, io),
              ...(of === undefined ? {} : { agent: of }),
            },
          }),
      trace,
    })
    const results = simulated.results.filter(
      ({ tier, active_tier }) => !changes || tier !== active_tier,
    )
    return { ...simulated, results }
  },
  text: ({ problems, results }, view) =>
    [
      ...problems.map(problemLine),
      results.length === 0 ? 'Nothing is decided otherwise.' : simulationTable(results, view),
      ...results.flatMap(({ agent, capability, steps }) =>
        steps ? ['', escapeText(`${agent}, ${capability}:`), stepsTable(steps, view)] : [],
      ),
      '',
      `${counted(results.length, 'call')}.`,
    ].join('\n'),
})
