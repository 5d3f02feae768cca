import { PolicyFile } from '@gatehouse/contract'
import { z } from 'zod'

/** The JSON Schema of a policy file, for editors that complete and check YAML. */
export const policyJsonSchema = (): object => ({
  ...z.toJSONSchema(PolicyFile, { io: 'input', unrepresentable: 'any' }),
  title: 'Gatehouse policy file',
})
