import type { SimulatedCall } from '@gatehouse/contract'
import type { View } from './define.ts'
import { renderTable } from './table.ts'

const outcomeOf = ({ tier, active_tier, barred, arguments_fit }: SimulatedCall): string => {
  if (barred) return `${tier} (${barred.replace('_', ' ')})`
  if (!arguments_fit) return `${tier} (other arguments)`
  return active_tier === null || active_tier === tier ? tier : `${active_tier} -> ${tier}`
}

const ruleOf = ({ decision }: SimulatedCall): string =>
  decision?.rule ? `${decision.rule.file}:${decision.rule.line}` : ''

/** Verdicts on calls that nobody makes. */
export const simulationTable = (results: readonly SimulatedCall[], view: View): string =>
  renderTable(
    [
      { title: 'AGENT', value: ({ agent }) => agent },
      { title: 'CAPABILITY', value: ({ capability }) => capability },
      { title: 'TIER', value: outcomeOf },
      { title: 'RULE', value: ruleOf },
    ],
    results,
    view,
  )
