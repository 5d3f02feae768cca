import { green, red } from '../colour.ts'
import { counted } from '../counted.ts'
import { defineCommand } from '../define.ts'
import { exitCodes } from '../exit-codes.ts'
import { renderFields } from '../table.ts'
import { shownTimes } from '../times.ts'

/** Sentence about the root over all logs, and whether the entry was there when it was signed. */
const rootText = (
  seq: number,
  { root, logs, chain, size }: { root: string; logs: number; chain: string; size: number },
): string => {
  const when = seq < size ? 'the entry was in it' : 'the entry came later'
  return `the key of its log is under sha256:${root}, which ${chain} signed over ${counted(logs, 'log')}; this one had ${counted(size, 'entry', 'entries')}, and ${when}`
}

export const auditCheckProof = defineCommand({
  name: 'audit check-proof',
  summary: 'Check a proof of one entry, without a server or its data',
  args: { file: 'what audit prove printed' },
  options: {
    'public-key': {
      value: 'FILE',
      about: 'the public key of the log, or of the signer of the root (the one in the proof)',
    },
  },
  examples: ['gatehouse audit check-proof proof.json --public-key audit.pub'],
  async run(_, given) {
    const { checkProof } = await import('@gatehouse/server/log/check-proof')
    return checkProof(given.file, given['public-key'])
  },
  text: ({ valid, detail, seq, size, entry, all_logs }, view) =>
    [
      valid
        ? green('The proof is valid.', view.coloured)
        : red('THE PROOF IS NOT VALID.', view.coloured),
      renderFields(
        [
          [valid ? 'It rests on' : 'Because', detail],
          ...(all_logs ? [['All logs', rootText(seq, all_logs)] as const] : []),
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
