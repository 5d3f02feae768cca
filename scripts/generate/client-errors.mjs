// A class for each error, from the contract's table, for agents in TypeScript.

/** Types whose errors say more than others, by the class that has it. */
const bases = {
  LimitError: ['RateLimited', 'Overloaded', 'TooManyPending', 'TooManyFailures'],
  UnknownNameError: ['UnknownCapability'],
}

/** The client raises `ApprovalPending` in its place, which knows the request. */
const leftOut = ['ApprovalRequired']

const baseOf = (type) =>
  Object.keys(bases).find((base) => bases[base].includes(type)) ?? 'GatehouseError'

const classText = ([type, { say }]) => `/** ${say} */
export class ${type} extends ${baseOf(type)}<'${type}'> {}
`

export const clientErrors = {
  file: 'packages/client/src/error-classes.ts',
  async render() {
    const { errorTable } = await import('../../packages/contract/dist/errors.js')
    const entries = Object.entries(errorTable)
      .filter(([type]) => !leftOut.includes(type))
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
    return `// Made by \`npm run generate\` from packages/contract/src/errors.ts.
import { GatehouseError, LimitError, UnknownNameError } from './gatehouse-error.ts'

${entries.map(classText).join('')}`
  },
}
