function __gatehouse_complete
  set -l words (commandline -opc)[2..-1] (commandline -ct)
  gatehouse __complete -- (string join \n -- $words | string collect --allow-empty) 2>/dev/null
end
complete -c gatehouse -f -a '(__gatehouse_complete)'
