import type { Agent } from '@gatehouse/contract'
import { agentsText as text } from '../../messages/agents.ts'
import { SelectField, TextArea, TextField } from '../../ui/field.tsx'

/** Fields that a person types for an agent. Lists have one item a line. */
export type Typed = {
  readonly purpose: string
  readonly approvals: Agent['approvals']
  readonly tools: string
  readonly mounts: string
  readonly limits: string
}

export const blank: Typed = {
  purpose: '',
  approvals: 'pending',
  tools: '',
  mounts: '',
  limits: '',
}

export const typedOf = ({ purpose, approvals, tools, mounts, limits }: Agent): Typed => ({
  purpose,
  approvals,
  tools: tools.join('\n'),
  mounts: mounts.map(({ path, read_only }) => `${read_only ? '' : 'rw '}${path}`).join('\n'),
  limits: limits.map(({ match, limit, window }) => `${match}=${limit}/${window}`).join('\n'),
})

const linesOf = (written: string): readonly string[] =>
  written
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')

/** A text that is no limit goes to the service as it is, which says what is wrong with it. */
const limitOf = (line: string) => {
  const [match = '', rest = ''] = line.split('=')
  const [limit = '', window = ''] = rest.split('/')
  return { match: match.trim(), limit: Number(limit), window: window.trim() }
}

/** The same as the service takes it. */
export const fieldsOf = ({ purpose, approvals, tools, mounts, limits }: Typed) => ({
  purpose,
  approvals,
  tools: linesOf(tools),
  mounts: linesOf(mounts).map((line) => ({
    path: line.replace(/^rw\s+/, ''),
    read_only: !/^rw\s/.test(line),
  })),
  limits: linesOf(limits).map(limitOf),
})

const modes = ['pending', 'hold'] as const
const limiting = ['tools', 'mounts', 'limits']

export const AgentFields = ({
  typed,
  onChange,
  errors,
  isNew = false,
}: {
  readonly typed: Typed
  /** Whether the agent is new: fields that few need stand behind a line then. */
  readonly isNew?: boolean
  readonly onChange: (typed: Typed) => void
  readonly errors: Readonly<Record<string, string>>
}) => {
  const set = (change: Partial<Typed>) => onChange({ ...typed, ...change })
  return (
    <>
      <TextField
        label={text.purpose}
        hint={text.purposeHint}
        error={errors['purpose']}
        maxLength={1000}
        value={typed.purpose}
        onChange={({ target }) => set({ purpose: target.value })}
      />
      <SelectField
        label={text.mode}
        hint={text.modeHints[typed.approvals]}
        value={typed.approvals}
        onChange={({ target }) =>
          set({ approvals: modes.find((mode) => mode === target.value) ?? 'pending' })
        }
        options={modes.map((value) => ({ value, text: text.modes[value] }))}
      />
      <details open={!isNew || limiting.some((name) => errors[name] !== undefined)}>
        <summary className="py-1 text-ink-soft">{text.limiting}</summary>
        <div className="mt-2 grid gap-4">
          <TextArea
            label={text.tools}
            hint={text.toolsHint}
            error={errors['tools']}
            mono
            rows={3}
            spellCheck={false}
            value={typed.tools}
            onChange={({ target }) => set({ tools: target.value })}
          />
          <TextArea
            label={text.mounts}
            hint={text.mountsHint}
            error={errors['mounts']}
            mono
            rows={2}
            spellCheck={false}
            value={typed.mounts}
            onChange={({ target }) => set({ mounts: target.value })}
          />
          <TextArea
            label={text.ownLimits}
            hint={text.ownLimitsHint}
            error={errors['limits']}
            mono
            rows={2}
            spellCheck={false}
            value={typed.limits}
            onChange={({ target }) => set({ limits: target.value })}
          />
        </div>
      </details>
    </>
  )
}
