import type { PolicyProblem } from '@gatehouse/contract'
import { policyText as text } from '../../messages/policy.ts'
import { Badge } from '../../ui/badge.tsx'
import { Visible } from '../../ui/visible.tsx'

/** A place in a file, which leads there. */
export const PlaceButton = ({
  text: place,
  label,
  onGo,
}: {
  readonly text: string
  readonly label?: string
  readonly onGo: (() => void) | undefined
}) =>
  onGo ? (
    <button
      type="button"
      className="mono min-h-11 text-left underline [overflow-wrap:anywhere] sm:min-h-8 sm:whitespace-nowrap"
      aria-label={label}
      onClick={onGo}
    >
      {place}
    </button>
  ) : (
    <span className="mono text-ink-soft sm:whitespace-nowrap">{place}</span>
  )

/** Problems, each with its place, which leads there. */
export const Problems = ({
  problems,
  placeOf,
  wayTo,
}: {
  readonly problems: readonly PolicyProblem[]
  readonly placeOf: (problem: PolicyProblem) => string
  /** Leads to the place; undefined where it is in no file that can be edited. */
  readonly wayTo: (problem: PolicyProblem) => (() => void) | undefined
}) => (
  <ul className="grid grid-cols-1 gap-1.5" aria-label={text.problems}>
    {problems.map((problem) => (
      <li
        key={`${problem.file}:${problem.line}:${problem.column} ${problem.message}`}
        className="flex flex-wrap items-center gap-x-2 gap-y-0.5"
      >
        <Badge tone={problem.severity === 'error' ? 'bad' : 'warn'}>
          {text.severity[problem.severity]}
        </Badge>
        <PlaceButton text={placeOf(problem)} onGo={wayTo(problem)} />
        <span className="min-w-0 [overflow-wrap:anywhere] max-sm:w-full">
          <Visible text={problem.message} />
        </span>
      </li>
    ))}
  </ul>
)
