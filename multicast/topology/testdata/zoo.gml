graph [
  Network "no name"
  label "Zoo's"
  multigraph 1
  node [
    id 0
    label "São Paulo, BR"
    Longitude -46.0
    Internal 1
    Latitude -23.5
  ]
  node [
    id 1
    label "Oslo"
    Longitude 0.0
    Latitude 60.0
  ]
  node [
    id 2
    label "Oslo"
    hyperedge 1
  ]
  edge [
    source 0
    target 1
    LinkLabel "two
lines"
    weight 7
  ]
  edge [
    source 0
    target 2
    LinkSpeedRaw 10000000000.0
  ]
  edge [
    source 1
    target 0
    weight 2.5
  ]
  edge [
    source 1
    target 1
  ]
  edge [
    source 1
    target 2
    weight 4
  ]
  edge [
    source 0
    target 1
    weight 3
  ]
]
