/** Licence notices of the libraries that are bundled into the page, from what its build wrote of them. */
export const thirdPartyNotices = (libraries) => {
  const unlicensed = libraries.filter(({ text, identifier }) => !text && !identifier)
  if (unlicensed.length > 0)
    throw new Error(`no licence is known of ${unlicensed.map(({ name }) => name).join(', ')}`)
  const section = ({ name, version, identifier, text }) =>
    [`## ${name} ${version}`, `License: ${identifier ?? 'see below'}`, text?.trim()]
      .filter(Boolean)
      .join('\n\n')
  return `# Third-party notices

The dashboard (\`packages/dashboard/dist\`) has these libraries bundled into it. All other libraries are installed
beside Gatehouse as packages of their own, with their licenses.

${libraries.map(section).join('\n\n')}
`
}
