graph [
  name "three"
  directed 0
  stats [
    nodes 3
    inner [ name "no" ]
  ]
  node [
    id 0
    label "São Paulo, BR"
    lon -46.0
    lat -23.5
  ]
  node [
    id 1
    label "Oslo"
    lon 0.0
    lat 60.0
  ]
  node [
    id 2
    label "Oslo (2)"
    lon 3.0
  ]
  edge [
    source 0
    target 1
    dist 2.5
  ]
  edge [
    source 0
    target 2
  ]
  edge [
    source 1
    target 2
    dist 4.0
  ]
]
