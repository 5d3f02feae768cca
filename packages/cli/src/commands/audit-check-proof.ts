import { green, red } from '../colour.ts'
import { defineCommand } from '../define.ts'
import { exitCodes } from '../exit-codes.ts'
import { renderFields } from '../table.ts'
import { shownTimes } from '../times.ts'

export const auditCheckProof = defineCommand({
  name: 'audit check-proof',
  summary: 'Check a proof of one entry, without a server or its data',
  args: { file: 'what audit prove printed' },
  options: {
    'public-key': {
      value: 'FILE',
      about: 'the public key of the log (the one in the proof)',
    },
  },
  examples: ['gatehouse audit check-proof proof.json --public-key audit.pub'],
  async run(_, given) {
    const { checkProof } = await import('@gatehouse/server/log/check-proof')
    return checkProof(given.file, given['public-key'])
  },
  text: ({ valid, detail, seq, size, entry }, view) =>
    [
      valid
        ? green('The proof is valid.', view.coloured)
        : red('THE PROOF IS NOT VALID.', view.coloured),
      renderFields(
        [
          [valid ? 'It rests on' : 'Because', detail],
          ['Entry', `${String(entry['id'])} (${seq} of ${size})`],
          ['When', shownTimes(String(entry['timestamp']))],
          ['Who', String(entry['actor'])],
          ['What', String(entry['capability'])],
          ['Result', String(entry['result'])],
        ],
        view,
      ),
    ].join('\n'),
  exitCode: ({ valid }) => (valid ? exitCodes.done : exitCodes.failed),
})
