import { defineCommand } from '../define.ts'
import { exitCodes } from '../exit-codes.ts'
import { renderFields } from '../table.ts'

export const auditCheckProof = defineCommand({
  name: 'audit check-proof',
  summary: 'Check the proof of one entry, without a server or its data',
  args: { file: 'what audit prove printed' },
  options: {
    'public-key': {
      value: 'FILE',
      about: 'the key of the log, kept apart; else the one in the proof',
    },
  },
  examples: ['gatehouse audit check-proof proof.json --public-key audit.pub'],
  async run(_, given) {
    const { checkProof } = await import('@gatehouse/server/audit/check-proof')
    return checkProof(given.file, given['public-key'])
  },
  text: ({ holds, detail, seq, size, entry }) =>
    [
      holds ? 'The proof holds.' : 'THE PROOF DOES NOT HOLD.',
      renderFields([
        [holds ? 'It rests on' : 'Because', detail],
        ['Entry', `${String(entry['id'])} (${seq} of ${size})`],
        ['When', String(entry['timestamp'])],
        ['Who', String(entry['actor'])],
        ['What', String(entry['capability'])],
        ['Result', String(entry['result'])],
      ]),
    ].join('\n'),
  exitCode: ({ holds }) => (holds ? exitCodes.done : exitCodes.failed),
})
