import type { PolicyTrial } from '@gatehouse/contract'
import type { View } from './define.ts'
import { renderTable } from './table.ts'

/** Rules that were looked at for one decision. */
export const stepsTable = (steps: PolicyTrial['steps'], view: View): string =>
  renderTable(
    [
      { title: 'RULE', value: (step) => `${step.rule.file}:${step.rule.line}` },
      { title: 'MATCH', value: (step) => step.rule.match },
      { title: 'OUTCOME', value: (step) => step.outcome },
      { title: 'DETAIL', value: (step) => step.detail ?? '', cut: true },
    ],
    steps,
    view,
  )
