import type { PolicyProblem } from '@gatehouse/contract'
import { policyText as text } from '../../messages/policy.ts'
import { Badge } from '../../ui/badge.tsx'
import { Visible } from '../../ui/visible.tsx'

/** What is wrong in policy files, each at its place; with `onGo` the place leads into the editor. */
export const Problems = ({
  problems,
  onGo,
}: {
  readonly problems: readonly PolicyProblem[]
  readonly onGo?: (problem: PolicyProblem) => void
}) => (
  <ul aria-label={text.problems} className="card divide-y divide-line">
    {problems.map((problem) => {
      const place = text.at(problem.file, problem.line, problem.column)
      return (
        <li
          key={`${place}${problem.message}`}
          className="flex flex-wrap items-baseline gap-x-3 px-3 py-2"
        >
          <Badge tone={problem.severity === 'error' ? 'bad' : 'warn'}>
            {text.severity[problem.severity]}
          </Badge>
          {onGo ? (
            <button type="button" className="mono min-h-6 underline" onClick={() => onGo(problem)}>
              {place}
            </button>
          ) : (
            <span className="mono">{place}</span>
          )}
          <span className="min-w-0 [overflow-wrap:anywhere]">
            <Visible text={problem.message} />
          </span>
        </li>
      )
    })}
  </ul>
)
