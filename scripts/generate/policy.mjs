export const policy = {
  file: 'docs/reference/policy.schema.json',
  async render() {
    const { policyJsonSchema } = await import('../../packages/server/dist/policy/json-schema.js')
    return `${JSON.stringify(policyJsonSchema(), null, 2)}\n`
  },
}
