import type { SimulatedCall } from '@gatehouse/contract'
import { useRead } from '../../api.ts'
import { common } from '../../messages/common.ts'
import { policyText as text } from '../../messages/policy.ts'
import { SelectField } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { numberText } from '../../ui/numbers.ts'
import { Section } from '../../ui/page.tsx'
import { Loaded } from '../../ui/states.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import { TierBadge, tiers } from './tier.tsx'

/** Capabilities by tier; those that its tools leave out are counted. */
const ByTier = ({ calls }: { readonly calls: readonly SimulatedCall[] }) => {
  const leftOut = calls.filter(({ barred }) => barred === 'tool_set').length
  const bar = calls.find(({ barred }) => barred === 'paused' || barred === 'revoked')?.barred
  return (
    <div className="grid grid-cols-1 gap-3">
      {(bar === 'paused' || bar === 'revoked') && (
        <Notice tone="warn">{text.allBarred[bar]}</Notice>
      )}
      {tiers.map((tier) => {
        const names = calls
          .filter((call) => call.tier === tier && call.barred !== 'tool_set')
          .map(({ capability }) => capability)
        return (
          <div key={tier} className="card p-3">
            <h3 className="mb-2 flex items-center gap-2">
              <TierBadge tier={tier} />
              <span className="figure text-ink-soft">{numberText(names.length)}</span>
            </h3>
            {names.length === 0 ? (
              <p className="text-ink-soft">{common.none}</p>
            ) : (
              <ul className="mono flex flex-wrap gap-x-4 gap-y-0.5 [overflow-wrap:anywhere]">
                {names.map((name) => (
                  <li key={name}>{name}</li>
                ))}
              </ul>
            )}
          </div>
        )
      })}
      {leftOut > 0 && <p className="text-ink-soft">{text.leftOut(leftOut)}</p>}
    </div>
  )
}

/** Capabilities of one agent by tier. */
export const OfAgent = ({ agent }: { readonly agent: string }) => (
  <Loaded query={useRead('simulatePolicy', { agents: [agent] })}>
    {({ results }) => <ByTier calls={results} />}
  </Loaded>
)

/** Permissions of an agent by all files together. */
export const Effective = () => {
  const [{ of }, change] = useFilters({ of: '' })
  return (
    <Section title={text.effective}>
      <p className="mb-3 max-w-prose text-ink-soft">{text.effectiveIntro}</p>
      <Loaded query={useRead('listAgents')}>
        {({ agents }) => {
          const chosen = agents.find(({ name }) => name === of) ?? agents[0]
          if (!chosen) return <p className="text-ink-soft">{text.noAgents}</p>
          return (
            <div className="grid grid-cols-1 gap-3">
              <SelectField
                label={common.agent}
                className="sm:max-w-60"
                value={chosen.name}
                onChange={({ target }) => change({ of: target.value })}
                options={agents.map(({ name }) => ({ value: name, text: name }))}
              />
              <OfAgent agent={chosen.name} />
            </div>
          )
        }}
      </Loaded>
    </Section>
  )
}
