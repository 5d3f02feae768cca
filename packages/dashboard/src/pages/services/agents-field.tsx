import { useRead } from '../../api.ts'
import { servicesText as text } from '../../messages/services.ts'
import { Checkbox } from '../../ui/field.tsx'

/** Agents that may use a service: named ones, or every agent. */
export const AgentsField = ({
  chosen,
  onChange,
}: {
  readonly chosen: readonly string[]
  readonly onChange: (chosen: readonly string[]) => void
}) => {
  const agents = useRead('listAgents').data?.agents ?? []
  const names = agents.filter(({ status }) => status !== 'revoked').map(({ name }) => name)
  const isEvery = chosen.includes('*')
  const toggle = (name: string, on: boolean) =>
    onChange(on ? [...chosen, name] : chosen.filter((one) => one !== name))
  return (
    <fieldset className="grid min-w-0 gap-2">
      <legend className="mb-1 text-[0.867rem] font-medium">{text.agents}</legend>
      {chosen.length === 0 && <p className="text-ink-soft">{text.chooseAgents}</p>}
      {[...new Set([...names, ...chosen])]
        .filter((name) => name !== '*')
        .map((name) => (
          <Checkbox
            key={name}
            label={name}
            disabled={isEvery}
            checked={isEvery || chosen.includes(name)}
            onChange={({ target }) => toggle(name, target.checked)}
          />
        ))}
      <Checkbox
        label={text.everyAgent}
        hint={text.everyAgentHint}
        checked={isEvery}
        onChange={({ target }) => toggle('*', target.checked)}
      />
    </fieldset>
  )
}
