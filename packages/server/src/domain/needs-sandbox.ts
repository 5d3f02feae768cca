/** Whether the service starts a program for a call of this capability. */
export const needsSandbox = ({ name, group }: { readonly name: string; readonly group: string }) =>
  name === 'process.run' || group === 'git'
