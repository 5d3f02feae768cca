import type { RuleRef, SimulatedCall } from '@gatehouse/contract'
import { policyText as text } from '../../messages/policy.ts'
import { Badge } from '../../ui/badge.tsx'
import { Visible } from '../../ui/visible.tsx'

export const ruleText = ({ file, line, match }: RuleRef): string => `${file}:${line} ${match}`

const Trace = ({
  steps,
  isOpen,
}: {
  readonly steps: NonNullable<SimulatedCall['steps']>
  readonly isOpen: boolean
}) => (
  <details className="mt-1" open={isOpen}>
    <summary className="min-h-11 py-2 text-ink-soft sm:min-h-8 sm:py-1">{text.trace}</summary>
    <ol className="grid grid-cols-1 gap-1 pl-1">
      {steps.map(({ rule, outcome, detail }, at) => (
        // A rule may be looked at twice; steps have no identity but their place.
        <li key={`${at}`}>
          <span className="mono">{ruleText(rule)}</span>{' '}
          <strong className="font-medium">
            {(text.outcome as Readonly<Record<string, string>>)[outcome] ?? outcome}
          </strong>
          {detail !== undefined && (
            <span className="text-ink-soft">
              {' · '}
              <Visible text={detail} />
            </span>
          )}
        </li>
      ))}
    </ol>
  </details>
)

/** Rule that decides a call, and each that was looked at. */
export const Because = ({
  decision,
  steps,
  arguments_fit,
  barred,
  isOpen = false,
}: SimulatedCall & { readonly isOpen?: boolean }) => (
  <>
    {barred !== null && <Badge tone="bad">{text.barred[barred]}</Badge>}
    {!arguments_fit && <Badge tone="warn">{text.unfit}</Badge>}
    {decision && (
      <p>
        {decision.rule ? <span className="mono">{ruleText(decision.rule)}</span> : text.noRule}
        {decision.reason !== null && (
          <>
            {' · '}
            <Visible text={decision.reason} />
          </>
        )}
      </p>
    )}
    {steps && steps.length > 0 && <Trace steps={steps} isOpen={isOpen} />}
  </>
)
