/** Licence notices of the libraries that are bundled into the page and the command, from what their builds wrote of them. */
export const thirdPartyNotices = (libraries) => {
  const unlicensed = libraries.filter(({ text, identifier }) => !text && !identifier)
  if (unlicensed.length > 0)
    throw new Error(`no licence is known of ${unlicensed.map(({ name }) => name).join(', ')}`)
  const section = ({ name, version, identifier, text }) =>
    [`## ${name} ${version}`, `License: ${identifier ?? 'see below'}`, text?.trim()]
      .filter(Boolean)
      .join('\n\n')
  return `# Third-party notices

The dashboard (\`packages/dashboard/dist\`) and the command (\`packages/cli/dist/bundle\`) have these libraries bundled into
them. All other libraries are installed beside Gatehouse as packages of their own, with their licenses.

${libraries.map(section).join('\n\n')}
`
}
